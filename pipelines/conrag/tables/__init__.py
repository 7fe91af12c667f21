"""The tables of runs, and what they are made from."""
