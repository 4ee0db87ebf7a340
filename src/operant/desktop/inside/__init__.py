"""The programs that run inside a sandbox: standard library only, any Python >= 3.9.

They are handed to the sandbox as text and never see the rest of Operant. ``wire`` is the exception that
proves the rule: both sides speak it, so both import it.
"""
