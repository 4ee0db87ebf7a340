"""Training runs: settings, the tasks and desktops that they play on, and what can be watched of them.

``operant.learn`` knows how to learn and nothing of desktops; here both are put together.
"""
