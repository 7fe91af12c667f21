"""A run folder in forms that others read: a dataset folder, or the trace of one example."""
