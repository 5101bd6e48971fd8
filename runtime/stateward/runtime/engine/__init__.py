"""The use cases: everything a surface may ask of the runtime. No SQL, no HTTP, no terminal."""
