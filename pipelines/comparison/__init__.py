"""Run folders beside each other: what differs in how they were made, and what came of it."""
