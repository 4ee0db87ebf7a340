"""The only agent-environment loop, and the episodes that it leaves on disk."""
