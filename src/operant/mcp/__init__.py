"""Desktops for clients of the Model Context Protocol: ``operant mcp``.

``session`` is one client's desktop and its episode, ``tools`` is what a client can do with it, ``server`` speaks the
protocol, and ``stdio`` and ``http`` carry it.
"""
