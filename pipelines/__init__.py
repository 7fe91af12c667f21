"""The papers as pipelines, and their shared parts: data, judges, metrics, runs, reports, CLI."""
