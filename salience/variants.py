"""The variants of salience: number format, target, measure, and aggregation."""

from typing import Literal

Precision = Literal["auto", "fp32", "bf16"]
Target = Literal["logit", "log_probability"]
"""The differentiated value. The paper uses the logit; Captum's class for language models uses the
log-probability, which also changes when other tokens become likelier."""

Measure = Literal["input_x_gradient", "gradient_norm"]
"""The paper's dot product of embedding and gradient, signed; or the gradient's L2 norm, which gives
similar results according to a footnote of the paper."""

Aggregation = Literal["max", "sum", "negative_entropy"]
"""How a word's row or column becomes one number (appendix C.1). The paper uses the maximum."""
