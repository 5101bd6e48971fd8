"""The commands for authors: compile, graph, fmt, eval. Wire in, a phase or the pipeline, wire out.

Invariants: nothing here opens a file, a folder or a store; what is read and written goes through a `Host`, which the program that mounts
the commands supplies as `ctx.obj` (a factory, called when a command runs). Run as a module it has a host that knows standard input
only. Exit status: 0 clean, 1 errors found, 2 wrong usage or nothing there, 3 the environment failed.
"""
