"""Run folders: configuration, results, provenance."""
