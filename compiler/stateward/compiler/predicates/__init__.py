"""What outlives a compile as a question: what a value may be, which guard holds. Closed trees, pure and total."""
