"""One module for each application: its public functions are what an agent may call.

``operant.calls.reading`` reads their signatures and docstrings as text. Texts and JSON values go in and out; a
``Refused`` tells the agent why something can't be done.
"""
