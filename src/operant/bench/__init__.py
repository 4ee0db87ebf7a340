"""Benchmarks: what the speed goals are held against, measured side by side in one run.

Each measure is a plain function that returns numbers; ``operant bench`` prints and stores them. A
benchmark is not a test: it judges nothing and never fails for being slow.
"""
