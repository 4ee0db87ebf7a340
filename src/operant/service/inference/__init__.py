"""Who answers: models, switched without a pause, asked in batches."""
