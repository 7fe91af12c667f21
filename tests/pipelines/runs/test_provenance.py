"""What `run.json` and `contested doctor` say of the machine."""

from pathlib import Path

import pytest

from pipelines.machine import findings
from pipelines.runs.provenance import provenance
from serving import processor


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("avx2 avx512_bf16", "bfloat16: the processor has AVX-512 BF16"),
        ("avx2", "float32: the processor has neither AVX-512 BF16 nor AMX"),
    ],
)
def test_what_the_cpu_computes_in_and_why(
    flags: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"flags : {flags}\n")
    monkeypatch.setattr(processor, "CPUINFO", cpuinfo)
    assert provenance()["hardware"]["cpu_precision"] == says
    found = {each.what: each.says for each in findings("cpu-small", tmp_path)}
    assert found["CPU is quick in"] == says
