"""A response written again from what ConflictScore found in it (ConflictScore, section 6)."""

from pipelines.conflictscore.regeneration.regenerate import regenerate

__all__ = ["regenerate"]
