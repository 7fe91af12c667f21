"""`contested train-judges`: judges of truth and information, from answers that people labelled."""

import json
from pathlib import Path
from typing import Annotated

from pydantic import Field
from rich.console import Console
from rich.markup import escape

from pipelines.cli.flat import flat
from pipelines.cli.progress import STDERR, progress
from pipelines.cli.tagging import show
from pipelines.data.released import Part
from pipelines.files import check_writable, replace_text
from pipelines.option import Option, Options


class JudgeTraining(Options):
    """What judges learn from."""

    data: Annotated[Path, Option("TruthfulQA's CSV, with the known answers of the questions.")]
    labelled: Annotated[
        list[Path],
        Option("Answers with labels, as TruthfulQA's finetune_truth.jsonl has them. Repeatable."),
    ]
    out: Annotated[Path, Option("The file to write, JSON.")] = Path("judges.json")
    half: Annotated[
        Part, Option("Whose questions to learn from; what they are worth is measured on the rest.")
    ] = "train"
    tables: Annotated[Path | None, Option("Folder to write the table to as well.")] = None
    limit: Annotated[
        int | None, Field(ge=1), Option("Take only the first N answers of each file.")
    ] = None


@flat
def train_judges(options: JudgeTraining) -> None:
    """Train judges of truthful and of informative answers, and say what they are worth.

    They ask no language model: a logistic regression reads an embedding of question and answer, and
    how near the answer is to the known ones. The table is of answers to questions of the half that
    was not learned from. The file is for `--truth trained --judges FILE`.

    Example:
        contested train-judges --data TruthfulQA.csv --labelled finetune_truth.jsonl
    """
    from pipelines.conflictscore.truthfulqa.labelled import read_labelled
    from pipelines.conflictscore.truthfulqa.trained import Reader, packaged_embedder
    from pipelines.conflictscore.truthfulqa.training import judges_table, train
    from pipelines.data.truthfulqa import read
    from pipelines.report.table import write

    questions = read(options.data)
    answers = [
        each
        for file in options.labelled
        for each in read_labelled(file, questions).answers[: options.limit]
    ]
    for path in (options.out, options.tables and options.tables / "truth_judges_trained.json"):
        if path is not None:
            check_writable(path)
    reader = Reader(packaged_embedder())
    with progress("answers", len(answers)) as bar:
        judges, judged = train(answers, reader, options.half, bar.add)
    if judged:
        table = judges_table(judged, ", ".join(file.name for file in options.labelled))
        show(table, Console())
        if options.tables is not None:
            write(table, options.tables)
    described = judges.model_dump(mode="json", exclude={"questions"})
    described["questions"] = sorted(judges.questions)  # the same judges are the same bytes
    replace_text(options.out, json.dumps(described) + "\n")
    STDERR.print(f"judges: {escape(str(options.out))}", soft_wrap=True)
