"""TruthfulQA answered from documents, and again from what ConflictScore found (section 6)."""
