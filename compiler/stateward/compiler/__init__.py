"""The stateward compiler: text in, definition and diagnostics out.

Importing this package loads nothing heavy: the runtime's core imports `stateward.compiler.flow.definition` through it and must not
pay for the parser. It does no I/O, knows no database and no network.
"""
