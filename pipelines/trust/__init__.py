"""Whether hostile documents and responses forge or sway the verdicts of judges and writers."""
