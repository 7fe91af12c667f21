"""Hostile texts, and what judges of claims make of them."""
