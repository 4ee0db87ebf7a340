"""The actors and the learner of a run on Ray: the same configuration, records and checkpoints, on more machines."""
