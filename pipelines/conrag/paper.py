"""Figures of the paper, shown beside ours for comparison (ConRAG, section 3)."""

from pipelines.metrics.estimate import Estimate
from pipelines.report.table import Quoted, quote

_STANCES = "SUPPORTS/REFUTES/NEI"
TABLE_I = quote(
    "dataset task labels size evidence",
    (
        "FEVER",
        "claim verification",
        _STANCES,
        "train 145,449, dev 19,998, test 19,998",
        "Wikipedia evidence sentences",
    ),
    (
        "SciFact",
        "scientific claim verification",
        _STANCES,
        "train 1,261, dev 450, test 300",
        "abstract rationales (sentences)",
    ),
    ("ALCE-ASQA", "long-form QA with citations", "none", "dev 1,000", "passage-level citations"),
    ("ALCE-QAMPARI", "list QA with citations", "none", "dev 1,000", "passage-level citations"),
    ("ALCE-ELI5", "explanatory QA with citations", "none", "dev 1,000", "passage-level citations"),
    (
        "RAGTruth",
        "RAG hallucination analysis",
        "spans: supported, contradictory, unsupported",
        "about 18,000 responses",
        "retrieved contexts and annotated outputs",
    ),
    figures="paper, Table I",
)

TABLE_IV = quote(
    "dataset method accuracy accuracy_low accuracy_high evidence_f1 contradiction_rate",
    ("FEVER", "RelRAG", 0.741, 0.735, 0.747, 0.372, 0.182),
    ("FEVER", "NLI-RAG", 0.779, 0.773, 0.784, 0.431, 0.141),
    ("FEVER", "CiteRAG", 0.778, 0.772, 0.783, 0.452, 0.136),
    ("FEVER", "ConRAG", 0.823, 0.817, 0.828, 0.512, 0.083),
    ("FEVER", "Oracle", 0.944, 0.941, 0.947, 0.788, 0.021),
    ("SciFact", "RelRAG", 0.669, 0.624, 0.711, 0.401, 0.214),
    ("SciFact", "NLI-RAG", 0.736, 0.693, 0.774, 0.447, 0.173),
    ("SciFact", "CiteRAG", 0.700, 0.656, 0.741, 0.468, 0.165),
    ("SciFact", "ConRAG", 0.769, 0.728, 0.805, 0.531, 0.102),
    ("SciFact", "Oracle", 0.931, 0.904, 0.951, 0.812, 0.028),
    figures="paper, Table IV",
)

TABLE_V = quote(
    "dataset method precision precision_low precision_high recall recall_low recall_high "
    "contradiction_rate",
    ("ALCE-ASQA", "RelRAG", 0.297, 0.269, 0.326, 0.423, 0.393, 0.454, 0.247),
    ("ALCE-ASQA", "NLI-RAG", 0.355, 0.326, 0.385, 0.451, 0.420, 0.482, 0.218),
    ("ALCE-ASQA", "CiteRAG", 0.399, 0.369, 0.430, 0.557, 0.526, 0.588, 0.191),
    ("ALCE-ASQA", "ConRAG", 0.439, 0.409, 0.470, 0.601, 0.570, 0.631, 0.143),
    ("ALCE-ASQA", "Oracle", 0.660, 0.630, 0.689, 0.782, 0.755, 0.806, 0.09),
    ("ALCE-QAMPARI", "RelRAG", 0.283, 0.256, 0.312, 0.393, 0.363, 0.424, 0.231),
    ("ALCE-QAMPARI", "NLI-RAG", 0.272, 0.245, 0.300, 0.442, 0.411, 0.473, 0.206),
    ("ALCE-QAMPARI", "CiteRAG", 0.402, 0.372, 0.433, 0.514, 0.483, 0.545, 0.179),
    ("ALCE-QAMPARI", "ConRAG", 0.428, 0.398, 0.459, 0.593, 0.562, 0.623, 0.131),
    ("ALCE-QAMPARI", "Oracle", 0.590, 0.559, 0.620, 0.775, 0.748, 0.800, 0.082),
    ("ALCE-ELI5", "RelRAG", 0.244, 0.218, 0.272, 0.341, 0.312, 0.371, 0.286),
    ("ALCE-ELI5", "NLI-RAG", 0.244, 0.218, 0.272, 0.381, 0.351, 0.412, 0.254),
    ("ALCE-ELI5", "CiteRAG", 0.358, 0.329, 0.388, 0.471, 0.440, 0.502, 0.221),
    ("ALCE-ELI5", "ConRAG", 0.395, 0.365, 0.426, 0.542, 0.511, 0.573, 0.167),
    ("ALCE-ELI5", "Oracle", 0.586, 0.555, 0.616, 0.727, 0.699, 0.754, 0.111),
    figures="paper, Table V",
)

TABLE_VI = quote(
    "method token_f1 passage_auc contradiction_rate",
    ("RelRAG", 0.397, 0.705, 0.338),
    ("NLI-RAG", 0.464, 0.755, 0.301),
    ("CiteRAG", 0.466, 0.776, 0.287),
    ("ConRAG", 0.556, 0.834, 0.219),
    ("Oracle", 0.611, 0.869, 0.16),
    dataset="RAGTruth",
    figures="paper, Table VI",
)

TABLE_VII = quote(
    "variant accuracy evidence_f1 contradiction_rate precision recall",
    ("ConRAG", 0.823, 0.512, 0.083, 0.470, 0.610),
    ("w/o conflict tagging", 0.804, 0.479, 0.112, 0.420, 0.560),
    ("w/o evidence clustering", 0.812, 0.496, 0.097, 0.450, 0.580),
    ("w/o uncertainty policy", 0.831, 0.509, 0.141, 0.460, 0.590),
    ("w/o citation binding", 0.820, 0.511, 0.086, 0.360, 0.500),
    dataset="FEVER, ALCE",
    figures="paper, Table VII",
)

LOW, MEDIUM, HIGH = "low (0–0.2)", "medium (0.2–0.5)", "high (0.5–1.0)"
"""Bins of the conflict score."""

TABLE_VIII = quote(
    "bin share nli_rag_accuracy conrag_accuracy nli_rag_contradiction_rate "
    "conrag_contradiction_rate",
    (LOW, 0.54, 0.812, 0.827, 0.082, 0.051),
    (MEDIUM, 0.31, 0.761, 0.821, 0.154, 0.087),
    (HIGH, 0.15, 0.698, 0.776, 0.259, 0.143),
    dataset="FEVER",
    figures="paper, Table VIII",
)

PERCENT = {
    "entity disambiguation": (18, 12, 9, 7),
    "temporal mismatch": (12, 19, 24, 18),
    "negation or quantifier": (21, 17, 11, 14),
    "evidence sparsity": (26, 20, 14, 27),
    "multi-hop evidence": (15, 22, 19, 13),
    "citation leakage": (8, 10, 23, 21),
}
"""Share of errors by category, on FEVER, SciFact, ALCE and RAGTruth."""

TABLE_IX: tuple[Quoted, ...] = tuple(
    {
        "dataset": dataset,
        "category": category,
        "figures": "paper, Table IX",
        "share": Estimate(percent[place] / 100, None, None, 1),
    }
    for place, dataset in enumerate(("FEVER", "SciFact", "ALCE", "RAGTruth"))
    for category, percent in PERCENT.items()
)
