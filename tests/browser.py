"""The browser that pages are looked at with."""

import shutil

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
"""Its path; None where it is not installed."""
