"""People label, blind, what judges of a run labelled; how far they agree, and what follows."""
