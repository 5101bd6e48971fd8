"""The one canonical form of a DCDL source."""
