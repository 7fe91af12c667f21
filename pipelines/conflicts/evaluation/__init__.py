"""The experiments of CONFLICTS: its tables, beside the paper's."""
