"""The small agent that a laptop trains and runs: a manager that chooses what to do, a worker that does it.

``perception`` turns an observation into arrays, ``encoder`` joins screen, instruction and state, ``manager``
chooses a meta-action and its parameters, ``worker`` looks closely at the place and carries it out,
``policy`` is all of them together, and ``agent`` plays with it.
"""
