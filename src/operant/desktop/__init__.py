"""Desktops that one can see and touch: sandboxed, live, and pools of them."""
