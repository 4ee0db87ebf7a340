"""Files that OSWorld's machines have and Debian's do not. They are shown to programs inside a desktop, read-only."""
