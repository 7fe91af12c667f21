"""A run folder as a dataset folder that others read."""
