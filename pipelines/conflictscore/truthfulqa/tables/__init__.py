"""The tables of TruthfulQA."""
