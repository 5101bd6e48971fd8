"""What the compiler found, and how it is shown."""
