"""Finds passages of a user's own documents: by words, by meaning, and by both."""
