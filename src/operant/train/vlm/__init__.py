"""Training vision-language agents: actors, learner and everything between them, in one process."""
