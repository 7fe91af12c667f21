"""Gradient salience of decoder-only language models: which earlier tokens a token rests on."""
