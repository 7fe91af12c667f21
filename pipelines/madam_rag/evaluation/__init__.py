"""MADAM-RAG beside its baselines: data sets, constructions, tables and figures of the paper."""
