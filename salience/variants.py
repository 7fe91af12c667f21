"""The variants of salience: who computes it and in what, of what, and how it is summed up."""

from typing import Literal

Precision = Literal["auto", "fp32", "bf16"]
Engine = Literal["batched", "captum"]
Target = Literal["logit", "log_probability", "contrast"]
"""What is differentiated. The paper takes the logit; Captum's class for language models takes the
log-probability, which also moves where other tokens become likelier. The contrast is the logit less
that of a foil (Yin and Neubig 2022): why this token, and not the likeliest other one?"""

Measure = Literal["input_x_gradient", "gradient_norm"]
"""The paper's dot product of embedding and gradient, signed; or the gradient's L2 norm, of which it
says in a footnote that results are similar."""

Aggregation = Literal["max", "sum", "negative_entropy"]
"""How a word's row or column becomes one number (appendix C.1). The paper takes the maximum."""

Average = Literal["geometric", "arithmetic"]
"""How words' scores are averaged: appendix C has the geometric mean, section 3.2 says mean. The
formulas decide here."""
