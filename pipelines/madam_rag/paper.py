"""Figures of the paper, as shares from 0 to 1, which stand beside ours (MADAM-RAG)."""

from pipelines.madam_rag.baselines import ASTUTE, CONCATENATED, MADAM, NO_RAG
from pipelines.report.table import quote

LLAMA = "Llama3.3-70B-Inst"
"""The model of Figure 3."""

_EXACT_MATCH = quote(
    "model method FaithEval AmbigDocs RAMDocs",
    (LLAMA, NO_RAG, 0.267, 0.043, 0.058),
    (LLAMA, CONCATENATED, 0.273, 0.542, 0.326),
    (LLAMA, ASTUTE, 0.371, 0.468, 0.318),
    (LLAMA, MADAM, 0.431, 0.582, 0.344),
    ("Qwen2.5-72B-Inst", NO_RAG, 0.264, 0.018, 0.042),
    ("Qwen2.5-72B-Inst", CONCATENATED, 0.385, 0.412, 0.206),
    ("Qwen2.5-72B-Inst", ASTUTE, 0.446, 0.398, 0.208),
    ("Qwen2.5-72B-Inst", MADAM, 0.577, 0.527, 0.264),
    ("GPT-4o-mini", NO_RAG, 0.310, 0.010, 0.025),
    ("GPT-4o-mini", CONCATENATED, 0.210, 0.515, 0.250),
    ("GPT-4o-mini", ASTUTE, 0.340, 0.150, 0.130),
    ("GPT-4o-mini", MADAM, 0.385, 0.630, 0.280),
    figures="paper, Table 1",
)

TABLE_1 = tuple(
    {"data": data, "exact_match": row[data]}
    | {key: row[key] for key in ("model", "method", "figures")}
    for data in ("RAMDocs", "AmbigDocs", "FaithEval")
    for row in _EXACT_MATCH
)

SECTION_6_1 = quote(  # from the text
    "data aggregator rounds exact_match precision f1",
    ("RAMDocs", "with", 1, 0.378, 0.6741, 0.6863),
    ("RAMDocs", "with", 2, None, 0.6852, None),
    ("RAMDocs", "with", 3, None, 0.6857, None),
    ("RAMDocs", "without", 1, 0.300, None, 0.5979),
    ("RAMDocs", "without", 3, None, None, 0.6341),  # 0.5979 and the gain of 0.0362
    model=LLAMA,
    figures="paper, section 6.1",
)
