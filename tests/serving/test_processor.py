"""The number format of a processor, from a fake /proc/cpuinfo, and who uses it."""

from pathlib import Path

import pytest

from serving import processor
from serving.connect import numerics
from serving.processor import cpu_precision
from serving.profile import load

EPYC_MILAN = "processor\t: 0\nflags\t\t: fpu avx2 fma\nbugs\t\t: avx512_bf16_is_no_flag_here\n"
EPYC_TURIN = EPYC_MILAN.replace("avx2", "avx2 avx512f avx512_bf16")
SAPPHIRE_RAPIDS = EPYC_MILAN.replace("avx2", "avx2 avx512f amx_bf16 amx_tile")


@pytest.fixture
def cpuinfo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "cpuinfo"
    monkeypatch.setattr(processor, "CPUINFO", path)
    return path


@pytest.mark.parametrize(
    ("text", "dtype", "why"),
    [
        (EPYC_MILAN, "float32", "the processor has neither AVX-512 BF16 nor AMX"),
        (EPYC_TURIN, "bfloat16", "the processor has AVX-512 BF16"),
        (SAPPHIRE_RAPIDS, "bfloat16", "the processor has AMX"),
        ("", "float32", "the processor has neither AVX-512 BF16 nor AMX"),
    ],
)
def test_the_format_that_is_quick_on_a_processor(
    cpuinfo: Path, text: str, dtype: str, why: str, tmp_path: Path
) -> None:
    cpuinfo.write_text(text)
    assert cpu_precision() == (dtype, why)
    assert str(cpu_precision()) == f"{dtype}: {why}"
    options = load("cpu-small").engines["smollm2-135m-instruct"]
    assert options.dtype == numerics(options, tmp_path) == dtype, "a server goes by it"


def test_server_tagger_and_salience_agree_on_this_machine() -> None:
    import torch

    from nli.model import native_precision
    from salience.decoder import settled

    short = {"bfloat16": "bf16", "float32": "fp32"}[cpu_precision().dtype]
    assert native_precision(torch.device("cpu")) == short
    assert settled("auto", "cpu") == (short, ("cpu",))
