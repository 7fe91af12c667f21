"""The readable output of a run: tables, plots and one self-contained page."""
