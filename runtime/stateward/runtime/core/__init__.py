"""The pure core: events, the instance they fold to, and what decides. No clock, ids, randomness or I/O: they are inputs."""
