"""Run folders, the runner that fills them, and what they tell of how they were made."""
