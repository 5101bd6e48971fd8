"""The folder of the work as others may see it: a read-only view that nothing leads out of, and facts taken from its version control."""
