"""Agents and desktops for other programs and for people: REST, live streams, training runs, dashboard."""
