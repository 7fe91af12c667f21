"""TruthfulQA answered from documents, and again after feedback by ConflictScore (section 6)."""
