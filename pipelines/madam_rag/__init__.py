"""MADAM-RAG: one agent per document, an aggregator, and a debate (Wang et al. 2025)."""
