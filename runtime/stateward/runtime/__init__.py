"""The stateward runtime: one Worker, its session log, its flow instance, and the surfaces it is reached through."""
