"""A script of alembic for each version: how the tables come to be what they are in it."""
