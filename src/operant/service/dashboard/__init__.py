"""The dashboard: pages in Python, mounted in the same application; one script draws and drives desktops."""
