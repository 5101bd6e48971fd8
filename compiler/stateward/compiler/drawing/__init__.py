"""Pictures of a compiled flow."""
