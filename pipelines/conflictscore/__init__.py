"""ConflictScore: how well a response acknowledges that its documents disagree."""
