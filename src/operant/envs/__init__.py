"""Environments: one task on one desktop, the Gymnasium environments over it, and many of them at once."""
