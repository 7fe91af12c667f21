"""Retrieval of passages from the user's documents: lexical, dense, and hybrid."""
