"""What can be told of guards, variables and checks without running a flow: pure, and bounded in work.

What is claimed of all values is proved over finite sets that stand for them; what is claimed of some values comes with an example. Where
neither can be had within the bounds, nothing is said.
"""
