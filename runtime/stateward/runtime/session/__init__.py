"""The session log as values: entries, their payloads, the chain that links them, and the class of evidence each is."""
