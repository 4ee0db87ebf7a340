"""APIs that build themselves: what an application offers, functions that a model writes, and their admission.

``discovery`` looks at an application without any model. ``builder`` asks a model for the functions that example tasks
need. Code of a model is read as text here (``lint``, ``candidate``) and runs only inside fresh desktops without a network
(``trial``). What passes every check is stored by ``operant.calls.admitted``.
"""
