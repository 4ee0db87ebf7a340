"""Tasks: what an agent is trained and judged on. A task = set-up, instruction, success criteria, oracle."""
