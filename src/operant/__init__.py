"""Operant: train, evaluate and serve agents that operate a computer, on real desktops that start in half a second."""

__version__ = "0.1.0"
