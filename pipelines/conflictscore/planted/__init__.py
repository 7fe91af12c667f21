"""Conflicts planted in a user's own documents: test sets of known truth where there is no gold."""
