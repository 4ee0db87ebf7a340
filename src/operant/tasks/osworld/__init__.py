"""OSWorld's tasks: its task files read and played here, with set-up steps, getters and metrics of our own.

Nothing of OSWorld is part of this package. A user points at a checkout of its ``evaluation_examples``, and at a cache
directory with the files that its tasks download: ``--suite osworld:PATH``.
"""
