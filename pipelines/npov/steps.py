"""The paper's study, step by step: each writes a file, and is skipped once the file is complete.

prompts/                 soft prompts: the generator's, and those of classifiers
study.responses.jsonl    draws and responses
study.annotated.jsonl    responses with their errors
study.reworded.jsonl     attempted paraphrases of arguments
study.cases.jsonl        test sets
npov.NAME.jsonl          scores by each detector
"""

import time
from typing import NamedTuple

from pipelines.experiment.options import source_of, tagger_named
from pipelines.files import sha256_of
from pipelines.npov.annotation import annotated, errors_in
from pipelines.npov.decoder import decoder_folder
from pipelines.npov.detectors import TRAINING, detected, figure_2, tuned_classifiers
from pipelines.npov.generator import tuned_generator
from pipelines.npov.responses import draws, opened_writer, respond_prompt, responses
from pipelines.npov.result import KINDS
from pipelines.npov.sets import cases_of, paraphrased_arguments, sizes_of
from pipelines.npov.settings import StudyOptions
from pipelines.npov.similarity import once_loaded
from pipelines.npov.study import Study, sizes
from pipelines.npov.topics import counts, outside_table, topics_by_split
from pipelines.report.progress import say
from pipelines.report.table import Column, Table
from pipelines.runs.folder import RunFolder


async def carried_out(options: StudyOptions, folder: RunFolder) -> None:
    """Do the remaining steps 1 to 6 of a study, or up to `options.until`, in a locked folder.

    Raises:
        InputError: A file cannot be used, or the folder has a step with other settings.
        ServingError: A model is missing, or no server is available.
    """
    clock = _Clock()
    study = opened(options, folder)
    clock.ended(1, "topics", counts(study.topics))
    soft = tuned_generator(study)
    clock.ended(2, "generator", soft.tuned_on.told if soft else "by a prompt")
    if options.until == "generator":
        return
    asked = options.model_copy(update={"model": None}) if options.endpoint else options
    async with opened_writer(asked, soft, respond_prompt(), logs=folder.logs) as writer:
        client = writer.client
        drawn = await responses(study, writer)
        clock.ended(3, "responses", f"{len(drawn):,}")
        if options.until == "responses":
            return
        tagger = once_loaded(study.tagger)
        examples = annotated(study, drawn, tagger)
        clock.ended(4, "annotation", errors_in(examples))
        reword = await paraphrased_arguments(study, client, tagger)
        cases = cases_of(study, examples, reword)
        clock.ended(5, "test sets", ", ".join(sizes_of(cases)))
    classifiers = tuned_classifiers(study, examples, reword)
    await detected(study, soft, classifiers)
    clock.ended(6, "detectors", f"including {len(classifiers):,} classifiers")
    figure_2(study, soft, cases)


class Planned(NamedTuple):
    """A step, and the amount of work."""

    step: str
    what: str


def outline(options: StudyOptions) -> Table:
    """The steps of a study, with their amounts of work; no model is asked.

    Raises:
        InputError: The data cannot be read, or a split has no topic.
        ServingError: The profile or a model is missing.
    """
    topics, size = topics_by_split(options.data), sizes(options)
    model, limit = decoder_folder(options).model.name, size.limit or "all"
    all_topics = [topic for split_topics in topics.values() for topic in split_topics]
    tuned = f"{size.steps:,} updates of {size.batch:,} examples"
    rows = (
        Planned("1 topics", f"{options.data.name}: {counts(topics)}"),
        Planned(
            "2 generator",
            f"{model}, instructed by a prompt"
            if options.generator == "prompt"
            else f"soft prompt of {model}: {tuned}",
        ),
        Planned("3 responses", f"{len(draws(all_topics, size.draws, options.seed)):,}"),
        Planned("4 annotation", f"by {options.annotator}"),
        Planned("5 test sets", f"organic, unparaphrased, paraphrased; measured: {limit} of each"),
        Planned(
            "6 detectors",
            "lengths, ROUGE, BERTScore, sentence embeddings, tagger, salience, ablation, "
            f"{len(TRAINING)} classifiers ({len(TRAINING) * len(KINDS)} soft prompts of {tuned})",
        ),
        Planned("7 tables", "Tables 1, 2, 3, 5 and 6, Figure 2, in report.html"),
    )
    return Table.of(
        rows,
        name="study",
        title=f"The study in {options.out}",
        columns=[Column("step", "Step"), Column("what", "Work")],
    )


class _Clock:
    """Reports each finished step and the minutes it took."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def ended(self, number: int, step: str, came: str) -> None:
        now = time.monotonic()
        minutes = (now - self._began) / 60
        self._began = now
        say(f"step {number} of 7, {step}: {came} ({minutes:,.1f} min)")


def opened(options: StudyOptions, folder: RunFolder) -> Study:
    """The study with its topics, split as in Table 4.

    Raises:
        InputError: The data cannot be read, or a split has no topic.
        ServingError: A model is missing.
    """
    topics = topics_by_split(options.data)
    where = source_of(options, "generator")
    study = Study(
        options,
        folder,
        sizes(options),
        topics,
        decoder_folder(options),
        tagger_named(options.tagger, where),
    )
    study.begin("topics", data=sha256_of(options.data), seed=options.seed)
    study.tell(
        "topics",
        f"Topics: {options.data.name}, {counts(topics)}; the paper has 9, 28 and 35 from "
        "ProCon.org.",
        *outside_table(study.all_topics),
    )
    return study
