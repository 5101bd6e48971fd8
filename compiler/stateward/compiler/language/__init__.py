"""The DCDL evaluator: a tree in, a lazy value and its data out."""
