"""`stateward flow`: the flows of a Workspace, for people and scripts. Everything is asked of the port `FlowAuthority`."""
