"""Agents written in Python inside a Worker: opening one, the tools for its agent, and adapters for frameworks of agents."""
