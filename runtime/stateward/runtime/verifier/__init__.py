"""The judges behind the verifier port: read-only, each answering for every transition of an attempt."""
