"""The commands for authors: compile, explain, graph, fmt, eval. Wire in, a phase or the pipeline, wire out.

Invariants: nothing here opens a file, a folder or a store; what is read and written goes through a `Host`, which the program that mounts
the commands supplies as `ctx.obj` (a factory, called when a command runs). Run as a module it has a host that knows standard input
only. The exit statuses other than 0 have their names in `host`.
"""
