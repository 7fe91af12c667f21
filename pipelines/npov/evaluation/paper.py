"""Figures of the paper, which stand beside ours for orientation (NPOV, section 5, appendices)."""

GENERATOR = "paper, LaMDA 64B"
CLASSIFIER = "paper, FLAN-PaLMChilla 62B"

TABLE_1 = (  # test set, AUC of hallucination: ROUGE, salience, classifier; of coverage: likewise
    ("Full organic", 0.840, 0.808, 0.953, 0.795, 0.852, 0.905),
    ("Unparaphrased synthetic", 0.772, 0.736, 0.998, 0.890, 0.875, 0.986),
    ("Paraphrased synthetic", 0.680, 0.708, 0.977, 0.746, 0.831, 0.993),
    ("Ambiguous organic", 0.814, 0.772, 0.851, 0.834, 0.755, 0.756),
)

TABLE_2 = (  # test set, trained on, AUC of hallucination, of coverage
    ("Full organic", "error-free and synthetic", 0.789, 0.880),
    ("Full organic", "and paraphrased", 0.828, 0.903),
    ("Full organic", "and development topics", 0.953, 0.905),
    ("Full organic", "and organic errors", 0.920, 0.956),
    ("Ambiguous organic", "error-free and synthetic", 0.807, 0.702),
    ("Ambiguous organic", "and paraphrased", 0.820, 0.529),
    ("Ambiguous organic", "and development topics", 0.851, 0.756),
    ("Ambiguous organic", "and organic errors", 0.862, 0.640),
)

TABLE_5 = (  # test set, AUC of hallucination, of coverage, of classifiers without annotations
    ("Full organic", 0.739, 0.896),
    ("Ambiguous organic", 0.732, 0.804),
)

TABLE_3 = (  # test set, AUC of hallucinated words: ROUGE, salience; of uncovered ones: likewise
    ("Full organic", 0.673, 0.724, 0.669, 0.799),
    ("Unparaphrased synthetic", 0.697, 0.710, 0.693, 0.808),
    ("Paraphrased synthetic", 0.614, 0.673, 0.582, 0.742),
    ("Ambiguous organic", 0.542, 0.542, 0.738, 0.740),
)

TABLE_6 = (  # aggregation, AUC of hallucination, of coverage, on the full organic set
    ("max", 0.808, 0.852),
    ("sum", 0.846, 0.809),
    ("negative entropy", 0.786, 0.664),
)
