"""What a user may choose about who judges claims by documents."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pipelines.evidence.known_priors import KNOWN, NONE
from pipelines.evidence.llm import Mode
from pipelines.option import Only, Option

PANEL = "Metric"

LabellerName = Literal["llm", "nli", "cascade", "combined"]

FROM_FILE = "file"
"""What `run.json` has for `prior` where that is a file; what is in it stands beside."""


def _by_labeller(settings: "JudgeSettings") -> str:
    return f"--labeller {settings.labeller}"


def _by_choice(settings: "JudgeSettings") -> str:
    if settings.combination_file is not None:
        return "--combination, which takes back itself what the model favours"
    return f"--evidence {settings.evidence}" if settings.by_model else _by_labeller(settings)


Evidence = Annotated[
    Mode,
    Option(
        "How a language model is asked. `choice` costs one token and gives probabilities; `json` "
        "explains each label with a snippet; `together` reads all documents in one call.",
        panel=PANEL,
        only=Only(lambda settings: settings.labeller != "nli", _by_labeller),
    ),
]


Labeller = Annotated[
    LabellerName,
    Option(
        "Who judges claims by documents: a language model (`llm`), the NLI tagger (`nli`), the "
        "tagger where it is sure and the language model for the rest (`cascade`), or the tagger "
        "for relevance and the language model for the side (`combined`).",
        panel=PANEL,
    ),
]


Prior = Annotated[
    str,
    Option(
        "How label probabilities of a language model are corrected for what it favours: as was "
        "fitted for this model and prompt, where that comes with the program (`known`), not at all "
        "(`none`), by its mean over the run's own pairs (`batch`), by what it says of texts "
        "without content (`contextual`), or by a FILE of `contested fit-prior`.",
        panel=PANEL,
        metavar="known|none|batch|contextual|FILE",
        only=Only(lambda settings: settings.corrects, _by_choice),
    ),
]


class JudgeSettings(BaseModel):
    """Who judges claims by documents.

    `evidence.risk` explains `risk`, in (0, 1), `evidence.llm` the values of `evidence`,
    `evidence.priors` those of `prior`, and `evidence.combination` what is combined. With `cut` a
    text too long for the context may be cut; cuts are recorded.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    labeller: Labeller = "llm"
    risk: Annotated[
        float,
        Field(gt=0, lt=1),
        Option(
            "Of `--labeller cascade`: the largest share of all pairs that may keep a wrong label "
            "of the tagger; the threshold follows from it. With a fitted combination: the same of "
            "its labels; the run says how many keep it.",
            panel=PANEL,
            only=Only(
                lambda settings: (
                    settings.labeller == "cascade"
                    or (settings.labeller == "combined" and settings.combination != NONE)
                ),
                _by_labeller,
            ),
        ),
    ] = 0.05
    combination: Annotated[
        str,
        Option(
            "How `--labeller combined` joins tagger and model: as was fitted for both, where that "
            "comes with the program and `--prior` is left as it is (`known`), unfitted (`none`: "
            "the tagger decides relevance, the model the side), or by a FILE of "
            "`contested fit-combination`.",
            panel=PANEL,
            metavar="known|none|FILE",
            only=Only(lambda settings: settings.labeller == "combined", _by_labeller),
        ),
    ] = KNOWN
    evidence: Evidence = "choice"
    prior: Prior = KNOWN
    cut: bool = False

    @model_validator(mode="before")
    @classmethod
    def _with_probabilities(cls, given: Any) -> Any:
        # Other ways of asking give none, so only they need be named to be refused.
        if isinstance(given, dict) and given.get("labeller") == "combined":
            return {"evidence": "choice", **given}
        return given

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.labeller == "combined" and self.evidence != "choice":
            raise ValueError(
                f"--evidence {self.evidence} gives no probabilities, which --labeller combined "
                "combines; leave it out, or choose 'choice'"
            )
        if self.combination_file is not None and self.prior not in (NONE, KNOWN):
            raise ValueError(
                "--combination takes back itself what the model favours; leave --prior out"
            )
        if self.labeller == "cascade" and self.evidence == "together":
            raise ValueError(
                "'together' reads all documents in one call, a cascade asks for single ones; "
                "choose 'choice' or 'json'"
            )
        return self

    @property
    def kind(self) -> str:
        """What its labeller is called unless a user says so: "nli", "llm-choice"."""
        return f"llm-{self.evidence}" if self.labeller == "llm" else self.labeller

    @property
    def by_model(self) -> bool:
        """Whether a language model judges anything."""
        return self.labeller != "nli"

    @property
    def by_choice(self) -> bool:
        """Whether a language model gives probabilities of labels, which can be corrected."""
        return self.by_model and self.evidence == "choice"

    @property
    def corrects(self) -> bool:
        """Whether probabilities may be corrected; a fitted combination does that by itself."""
        return self.by_choice and self.combination_file is None

    @property
    def combination_file(self) -> Path | None:
        """The file of a fitted combination, where the settings name one."""
        return None if self.combination in (NONE, KNOWN) else Path(self.combination)

    @property
    def estimates_prior(self) -> bool:
        """Whether a correction is estimated before the run, and not read from a file."""
        return self.prior in {"batch", "contextual"}

    @property
    def by_tagger(self) -> bool:
        """Whether the tagger judges anything."""
        return self.labeller != "llm"

    def deciding(self) -> dict[str, Any]:
        """All settings for `run.json`, which says what is in a file, and not where: it may move."""
        found = self.model_dump(exclude={"combination"})
        return (
            found
            if self.prior in (NONE, KNOWN) or self.estimates_prior
            else found | {"prior": FROM_FILE}
        )

    def judging(self) -> dict[str, Any]:
        """Those of `deciding` that decide a judgement."""
        own = JudgeSettings.model_fields
        return {name: value for name, value in self.deciding().items() if name in own}
