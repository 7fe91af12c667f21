"""`python -m pipelines.cli` is `contested`."""

from pipelines.cli.app import entry

if __name__ == "__main__":
    entry()
