"""Typed configuration: pydantic models, one field with one line of documentation each."""
