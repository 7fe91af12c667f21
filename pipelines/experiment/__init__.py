"""What an experiment is, and how it runs."""
