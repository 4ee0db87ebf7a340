"""OSWorld's guest protocol, both ways: our desktops as its machines, and its machines as our desktops."""
