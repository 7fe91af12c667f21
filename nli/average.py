"""Averages of a tagger's weights before and after it was trained further.

These keep what both know: Wortsman et al., "Robust fine-tuning of zero-shot models" (CVPR 2022).

    python -m nli.average BEFORE AFTER SHARE OUT
"""

import shutil
import sys
from pathlib import Path

from nli.errors import TaggerError
from nli.folder import check_folder, new_folder
from nli.labels import label_order
from nli.training import WEIGHTS


def average(before: Path, after: Path, share: float, out: Path) -> None:
    """Write a tagger whose weights are `share` of `after`'s and the rest `before`'s, in fp16.

    Its calibration is left out: it has to be fitted again.

    Args:
        before: Folder of the tagger that training began with.
        after: Folder of the tagger that it ended with; everything but the weights comes from here.
        share: In [0, 1].
        out: A new folder.

    Raises:
        TaggerError: A folder does not hold a tagger, the two differ in shape or in the order of
            labels, the share is out of range, or the new folder exists.
    """
    if not 0 <= share <= 1:
        raise TaggerError(f"{share} is not a share; give a number from 0 to 1")
    if label_order(check_folder(before)) != label_order(check_folder(after)):
        raise TaggerError(f"{before} and {after} order their labels differently; take related ones")
    from safetensors.torch import load_file, save_file

    old, new = load_file(before / WEIGHTS), load_file(after / WEIGHTS)
    if {name: part.shape for name, part in old.items()} != {
        name: part.shape for name, part in new.items()
    }:
        raise TaggerError(f"{before} and {after} differ in shape; name one trained from the other")
    mixed = {
        name: (share * part.float() + (1 - share) * old[name].float()).half()
        for name, part in new.items()
    }
    without = shutil.ignore_patterns("checkpoints", "calibration.json")
    with new_folder(out) as staged:
        shutil.copytree(after, staged, ignore=without, dirs_exist_ok=True)
        save_file(mixed, staged / WEIGHTS, metadata={"format": "pt"})


if __name__ == "__main__":
    average(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
