"""The correction of label probabilities that a run uses: its own of before, or estimated anew."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipelines.evidence.estimated import estimated_prior, pairs_to_ask, raw_identity
from pipelines.evidence.llm import llm_labeller
from pipelines.evidence.priors import correction_in
from pipelines.experiment.experiment import LabelPrior, RunModels


async def with_correction(
    models: RunModels, prior: LabelPrior | None, entries: Mapping[str, Mapping[str, Any]]
) -> RunModels:
    """The models, with the correction that their judge's settings have estimated, if any.

    Where the folder has a run of the same data, judge and way to estimate, its correction is taken:
    so a run that is resumed, or continued with a higher limit, is corrected as it began.

    Args:
        models: Of the run.
        prior: What a correction is estimated from, if from anything.
        entries: Those of the experiment in `run.json`.

    Raises:
        InputError: No pair is known before the run, or none can be judged.
        ServingError: No server can be had.
    """
    if prior is None:
        return models
    settings = prior.settings
    client = models.judging if prior.judging else models.client
    if client is None or not (settings.by_choice and settings.estimates_prior):
        return models
    wanted = raw_identity(llm_labeller(client, settings.evidence, overrides=models.prompts))
    for entry in entries.values():
        config = entry["config"]
        there = correction_in(config)
        # One of a file may have been made in the same way, and of other pairs.
        if (
            there is not None
            and there.labeller == wanted
            and config["settings"]["prior"] == settings.prior
            and config["data"]["sha256"] == prior.data
        ):
            return replace(models, correction=there)
    pairs = pairs_to_ask(settings, prior.pairs)
    with models.counting("pairs, to learn what the judge favours", len(pairs)) as counter:
        found = await estimated_prior(
            settings,
            client,
            pairs,
            models.prompts,
            store=models.store,
            advance=lambda: counter.advance(client.usage),
        )
    return replace(models, correction=found)


def told(prior: LabelPrior | None) -> str:
    """What `--dry-run` says of the pairs that a correction is estimated from; "" without one."""
    pairs = pairs_to_ask(prior.settings, prior.pairs) if prior else []
    if not pairs:
        return ""
    return (
        f"first {len(pairs):,} pairs for --prior; calls among them that the run would not make "
        "are not counted below"
    )
