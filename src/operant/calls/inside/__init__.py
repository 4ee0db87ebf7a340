"""What carries out calls inside a desktop: standard library only, any Python >= 3.9.

It is handed to the sandbox as one archive and never sees the rest of Operant. It runs with the rights of the desktop's
own programs; nothing here is trusted by the side outside.
"""
