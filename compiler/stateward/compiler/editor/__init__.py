"""The language server: what an editor asks of a flow that is being written."""
