"""Text to tree: the grammar, the lexer, the parser and the tree it builds."""
