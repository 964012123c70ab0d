"""Training: one trial, from its seed to its predictions."""
