"""Writers benchmarked by ConflictScore: reports on questions that sources disagree about."""
