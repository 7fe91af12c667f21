"""`contested lab conflictbench` and `contested run conflict-detection`, as a person meets them."""

import json
from pathlib import Path

from commands import Contested
from scripted import Scripted, fenced_text

from pipelines.data.released import half
from pipelines.judge.examples import read


def test_building_from_real_releases_counts_them(contested: Contested, released_data: Path) -> None:
    said = contested.done(
        "lab", "conflictbench", "--out", "built.jsonl", "--half", "test",
        "--release", f"ramdocs={released_data}/ramdocs/RAMDocs_250.jsonl",
        "--release", f"climate-fever={released_data}/climate_fever/climate-fever.jsonl.gz",
    )  # fmt: skip
    printed = {tuple(line.replace("│", " ").split()) for line in said.out.splitlines()}
    assert ("ramdocs", "this", "build", "94", "122", "216", "964") in printed
    assert ("AmbigDocs", "paper,", "Table", "1", "291", "360", "651", "–") in printed
    assert len(read(Path("built.jsonl")).examples) == 216 + 182 + 783


def test_halves_are_of_what_the_tagger_learned_from(
    contested: Contested, endpoint: Scripted, released_data: Path
) -> None:
    given = ("--release", f"ramdocs={released_data}/ramdocs/RAMDocs_250.jsonl", "--questions", 20)
    said = contested.done("lab", "conflictbench", "--out", "ours.jsonl", *given)
    assert "halves: test of ramdocs; claims by rules" in said.err
    ours = {each.question for each in read(Path("ours.jsonl")).examples}
    assert {half(str(each)) for each in ours} == {"test"}
    endpoint.reply = lambda request: json.dumps({"claim": fenced_text(request, "ANSWER")})
    said = contested.done(
        "lab", "conflictbench", "--out", "all.jsonl", "--as-in-paper", *given,
        "--endpoint", endpoint.url,
    )  # fmt: skip
    assert "--as-in-paper: --half all, --claims-by model" in said.err
    assert "halves: all of ramdocs; claims by model" in said.err
    taken = {half(str(each.question)) for each in read(Path("all.jsonl")).examples}
    assert taken == {"train", "test"}
    refused = contested.refused("lab", "conflictbench", "--as-in-paper", "--half", "test", *given)
    assert "--as-in-paper sets --half; leave one of the two out" in refused
