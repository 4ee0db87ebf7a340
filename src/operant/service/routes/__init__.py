"""One file for each group of paths; each only translates between HTTP and the parts that do the work."""
