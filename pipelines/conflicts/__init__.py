"""CONFLICTS: which type of conflict search results have, and answers that suit the type."""
