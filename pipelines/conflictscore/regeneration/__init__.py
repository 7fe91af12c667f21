"""A response written again from what ConflictScore found in it (ConflictScore, section 6)."""
