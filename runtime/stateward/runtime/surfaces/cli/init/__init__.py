"""`stateward init`: the files that let coding agents work inside flows, written beside what a project has and taken out again."""
