"""People label blind what a run's judge labelled; tables say how far they agree."""
