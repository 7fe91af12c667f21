"""English by rules: questions as statements, words, parts that can be exchanged."""
