"""CONFLICTS: the type of conflict between search results, and answers that suit the type."""
