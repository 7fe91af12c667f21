"""The papers as pipelines, and what they share: data, evidence, metrics, runs, reports, CLI."""
