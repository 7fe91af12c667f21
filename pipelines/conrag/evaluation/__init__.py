"""How ConRAG, its baselines and its ablations are measured (ConRAG, section 3)."""
