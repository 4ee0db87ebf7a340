"""Suites x agents x seeds -> a results directory -> tables, figures, reports."""
