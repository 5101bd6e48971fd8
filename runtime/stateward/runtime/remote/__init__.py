"""A Workspace that a service holds: the forms that go over the wire, which the service and its client share, and the client."""
