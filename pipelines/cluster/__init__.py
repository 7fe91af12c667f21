"""A run over a Ray cluster: who does its items there, and how they are asked."""
