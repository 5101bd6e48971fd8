"""Bringing a store that an older program wrote to the version that this one writes.

`versions/` holds a script of alembic for each version, which changes tables from the version before, on both databases; `rules/` the
rules of immutability of every earlier version, as that version wrote them. Nothing here is imported before a store of an older version is
opened for writing: new stores are made directly from the tables, and a test shows that both ways come to the same.

What holds of every migration, on both databases
- It begins with a lock that keeps every writer out, and looks at the version again under it: of several who begin at once, one migrates.
- A store that does not hold the rules of its version exactly is refused: a migration would give what was altered by hand a clean look.
- A copy of the whole store is made, and lies where it was said, before anything is changed.
- Everything is changed in one transaction, which writes the version as well, and which is looked over before it is committed: it happened
  as a whole or not at all, whenever the process is killed.
"""
