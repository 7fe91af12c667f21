"""Claims that no passage was found for."""

from pipelines.conrag.stance import Stance
from pipelines.conrag.tables.figures import Results


def right_for_free(results: Results) -> tuple[str, ...]:
    """A note for each data set with such claims: on how many of them every method is right."""
    notes = []
    for dataset, own in results.items():
        bare = [each for each in own if each.stance is not None and not each.passages]
        free = sum(each.stance is Stance.NOT_ENOUGH_INFO for each in bare)
        if bare:
            notes.append(
                f"{dataset}: {len(bare):,} of {len(own):,} claims had no passage; every method "
                f"says NOT_ENOUGH_INFO of them, which is right of {free:,} for free."
            )
    return tuple(notes)
