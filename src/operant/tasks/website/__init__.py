"""A web site inside the desktop, and the tasks that a browser does on it."""
