"""The surfaces: wire in, use case, wire out. They never import each other."""
