"""Who operates a desktop: agents, and the dict of their names."""
