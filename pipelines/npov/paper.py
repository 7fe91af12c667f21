"""Figures of the paper, which stand beside ours for orientation (NPOV, section 5, appendices)."""

from pipelines.report.table import quote

GENERATOR = "paper, LaMDA 64B"
CLASSIFIER = "paper, FLAN-PaLMChilla 62B"

TABLE_1 = quote(
    "test_set detector hallucination coverage",
    ("Full organic", f"ROUGE, {GENERATOR}", 0.840, 0.795),
    ("Full organic", f"salience, {GENERATOR}", 0.808, 0.852),
    ("Full organic", f"classifier, {CLASSIFIER}", 0.953, 0.905),
    ("Unparaphrased synthetic", f"ROUGE, {GENERATOR}", 0.772, 0.890),
    ("Unparaphrased synthetic", f"salience, {GENERATOR}", 0.736, 0.875),
    ("Unparaphrased synthetic", f"classifier, {CLASSIFIER}", 0.998, 0.986),
    ("Paraphrased synthetic", f"ROUGE, {GENERATOR}", 0.680, 0.746),
    ("Paraphrased synthetic", f"salience, {GENERATOR}", 0.708, 0.831),
    ("Paraphrased synthetic", f"classifier, {CLASSIFIER}", 0.977, 0.993),
    ("Ambiguous organic", f"ROUGE, {GENERATOR}", 0.814, 0.834),
    ("Ambiguous organic", f"salience, {GENERATOR}", 0.772, 0.755),
    ("Ambiguous organic", f"classifier, {CLASSIFIER}", 0.851, 0.756),
)

TABLE_2 = quote(  # the detectors are what classifiers were tuned on
    "test_set detector hallucination coverage",
    ("Full organic", f"error-free and synthetic, {CLASSIFIER}", 0.789, 0.880),
    ("Full organic", f"and paraphrased, {CLASSIFIER}", 0.828, 0.903),
    ("Full organic", f"and development topics, {CLASSIFIER}", 0.953, 0.905),
    ("Full organic", f"and organic errors, {CLASSIFIER}", 0.920, 0.956),
    ("Ambiguous organic", f"error-free and synthetic, {CLASSIFIER}", 0.807, 0.702),
    ("Ambiguous organic", f"and paraphrased, {CLASSIFIER}", 0.820, 0.529),
    ("Ambiguous organic", f"and development topics, {CLASSIFIER}", 0.851, 0.756),
    ("Ambiguous organic", f"and organic errors, {CLASSIFIER}", 0.862, 0.640),
)

TABLE_5 = quote(
    "test_set hallucination coverage",
    ("Full organic", 0.739, 0.896),
    ("Ambiguous organic", 0.732, 0.804),
    detector=f"annotation-free, {CLASSIFIER}",
)

TABLE_3 = quote(  # of words
    "test_set detector hallucination coverage",
    ("Full organic", f"ROUGE, {GENERATOR}", 0.673, 0.669),
    ("Full organic", f"salience, {GENERATOR}", 0.724, 0.799),
    ("Unparaphrased synthetic", f"ROUGE, {GENERATOR}", 0.697, 0.693),
    ("Unparaphrased synthetic", f"salience, {GENERATOR}", 0.710, 0.808),
    ("Paraphrased synthetic", f"ROUGE, {GENERATOR}", 0.614, 0.582),
    ("Paraphrased synthetic", f"salience, {GENERATOR}", 0.673, 0.742),
    ("Ambiguous organic", f"ROUGE, {GENERATOR}", 0.542, 0.738),
    ("Ambiguous organic", f"salience, {GENERATOR}", 0.542, 0.740),
)

TABLE_6 = quote(
    "detector hallucination coverage",
    (f"max, {GENERATOR}", 0.808, 0.852),
    (f"sum, {GENERATOR}", 0.846, 0.809),
    (f"negative entropy, {GENERATOR}", 0.786, 0.664),
    test_set="Full organic",
)
