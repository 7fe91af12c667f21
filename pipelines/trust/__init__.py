"""Hostile texts, and how judges of claims respond to them."""
