"""Persistence: the Workspace and the session logs. Implements `stateward.runtime.ports`; never imports the compiler."""
