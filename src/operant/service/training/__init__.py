"""Training runs, each in a process of its own that outlives the service."""
