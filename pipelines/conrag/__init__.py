"""ConRAG: contradiction-aware retrieval-augmented generation (Sun et al. 2024)."""
