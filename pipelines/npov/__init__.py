"""Neutral answers on controversial topics, and whether they are faithful to given arguments."""
