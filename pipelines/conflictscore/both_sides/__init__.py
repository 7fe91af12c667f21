"""ConflictScore beside people who say whether answers show both sides of a contradiction."""
