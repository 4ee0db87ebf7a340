"""L3afpad for Operant: the application and a suite of tasks."""
