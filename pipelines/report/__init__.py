"""What a run leaves for reading: tables, plots and one self-contained page."""
