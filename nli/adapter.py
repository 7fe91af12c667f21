"""Low-rank adapters (Hu et al., 2021): a large tagger as a few megabytes beside its base.

An adapter's folder has the weights of adapter and classifier, and the tokenizer, config and
calibration of the merged tagger (`merge`); the config names the base by its digest.

    python -m nli.adapter BASE OUT

merges the adapter that comes with this package, for `scripts/fetch_models.sh`.
"""

import shutil
import sys
from pathlib import Path
from typing import Any

from nli.calibration import Calibration, write
from nli.errors import TaggerError
from nli.folder import CALIBRATION, DECIDING, check_files, new_folder, read_object, sha256_of
from nli.model import reason

WEIGHTS = "adapter_model.safetensors"
BASE = "model.safetensors"
"""File with the base's weights; an adapter names it by its SHA-256."""


def shipped_adapter() -> Path:
    """Folder of the adapter that comes with this package, if this version has one."""
    return Path(__file__).parent / "shipped-large"


def add_adapter(model: Any, rank: int, further: Path | None = None) -> Any:
    """Put adapters into every linear layer of a classifier, in place; returns peft's view of it.

    Only they and the classifier's head are trained. Adapters are not scaled (alpha = rank), so that
    the learning rate does not depend on the rank. `further` is the folder of an adapter of the same
    base to start from.
    """
    from peft import LoraConfig, PeftModel, get_peft_model

    if further is not None:
        return PeftModel.from_pretrained(model, str(further), is_trainable=True)
    options = {"task_type": "SEQ_CLS", "target_modules": "all-linear"}
    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=rank, **options))


def check_further(further: Path, base: Path, rank: int | None) -> None:
    """Refuse an adapter that has another rank or base with a TaggerError."""
    has = read_object(further / "adapter_config.json").get("r")
    if has != rank:
        raise TaggerError(f"the adapter in {further} has rank {has}; train it with --adapter {has}")
    _check_base(base, further)


def save_adapter(adapter: Any, base: Path, folder: Path) -> None:
    """Write adapter and head in half precision with both configs; the base only by its digest."""
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    known = adapter.peft_config["default"]
    known.base_model_name_or_path, known.inference_mode = base.resolve().name, True
    known.save_pretrained(folder)
    model = adapter.get_base_model()
    model.config.architectures = [type(model).__name__]
    model.config.base_sha256 = sha256_of(base / BASE)
    model.config.save_pretrained(folder)
    trained = get_peft_model_state_dict(adapter, save_embedding_layers=False)
    halved = {name: part.half() for name, part in trained.items()}
    save_file(halved, folder / WEIGHTS, metadata={"format": "pt"})


def merge(base: Path, adapter: Path, out: Path) -> None:
    """Make an ordinary tagger of an adapter and its base: fp16 safetensors, with the calibration.

    Raises:
        TaggerError: Base or adapter is missing, the adapter was trained on another base, or the new
            folder `out` exists or cannot be written.
    """
    if not (adapter / WEIGHTS).is_file():
        raise TaggerError(
            f"{adapter} has no {WEIGHTS}; name a folder of contested lab train --adapter"
        )
    check_files(base)
    _check_base(base, adapter)
    try:
        with new_folder(out) as staged:
            _write_merged(base, adapter, staged)
            for file in [file for pattern in DECIDING for file in adapter.glob(pattern)]:
                if file.name != WEIGHTS:
                    shutil.copyfile(file, staged / file.name)
            if (staged / CALIBRATION).exists():
                fitted = Calibration.model_validate_json((staged / CALIBRATION).read_bytes())
                write(staged, fitted)
    except TaggerError:
        raise
    except Exception as error:  # whatever error a library raises on a broken folder
        raise TaggerError(f"{adapter} cannot be merged into {out}: {reason(error)}") from error


def _check_base(base: Path, adapter: Path) -> None:
    if sha256_of(base / BASE) != read_object(adapter / "config.json").get("base_sha256"):
        raise TaggerError(
            f"{base} is not the model that the adapter in {adapter} was trained on; name that model"
        )


def _write_merged(base: Path, adapter: Path, out: Path) -> None:
    from peft import PeftModel
    from transformers import AutoConfig, AutoModelForSequenceClassification
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    safe = {"local_files_only": True, "trust_remote_code": False}
    model = AutoModelForSequenceClassification.from_pretrained(
        base,
        **safe,
        config=AutoConfig.from_pretrained(adapter, **safe),
        use_safetensors=True,
        ignore_mismatched_sizes=True,  # a head with another number of labels, which is replaced
    )
    # In doubles: once rounded to fp16, weights and digest are then the same on every machine.
    whole = PeftModel.from_pretrained(model, str(adapter)).double().merge_and_unload()
    halved = {name: part.half() for name, part in whole.state_dict().items()}
    whole.save_pretrained(out, state_dict=halved)


if __name__ == "__main__":
    merge(Path(sys.argv[1]), shipped_adapter(), Path(sys.argv[2]))
