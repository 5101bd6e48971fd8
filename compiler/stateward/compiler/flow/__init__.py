"""Flow sources: schema, checks, graph, lowering and the definition. Importing this package loads nothing heavy."""
