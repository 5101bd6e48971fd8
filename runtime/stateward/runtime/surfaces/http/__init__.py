"""The service: the flows of a Workspace as resources over HTTP. The one place that knows the web framework."""
