"""What every experiment is, and how one is run."""
