"""The MCP server: one Worker, as the tools of its agent (the only place that knows the protocol's library)."""
