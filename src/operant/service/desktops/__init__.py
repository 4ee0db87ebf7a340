"""Desktops for other machines, over HTTP: the server's half of ``operant.desktop.remote``."""
