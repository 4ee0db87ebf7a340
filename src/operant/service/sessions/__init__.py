"""Desktops on loan: by whom each is used, what happens on it, and when it goes back."""
