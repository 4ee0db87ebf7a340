"""Files that desktops are made of: the window manager's and the bus's configuration, and the HOME template."""
