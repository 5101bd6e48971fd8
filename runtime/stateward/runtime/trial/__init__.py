"""Flows tried out without a Worker: verdicts are given by hand or by a script, and the runtime's own rules say what comes of them."""
