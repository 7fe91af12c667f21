"""Runs on a Ray cluster: the workers, and the process that sends items to them."""
