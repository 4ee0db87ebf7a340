"""What the API takes and gives, field by field: the source of its OpenAPI description."""
