"""Questions in AmbigDocs' format about invented places and people."""

import json
from typing import Any

ENTITIES = {
    "Aldham": {
        "Aldham, Essex": ("3,559 people", "1902", "Mary Oake"),
        "Aldham, Nebraska": ("812 people", "14 July 1856", "Tom Birch"),
        "Aldham (island)": ("1,040 people", "1731", "Ann Ashby"),
    },
    "Corby": {
        "Corby, Kansas": ("12,400 people", "1888", "Rose Hale"),
        "Corby (village)": ("240 people", "3 May 1911", "Paul Wren"),
    },
    "Denholm": {
        "Denholm, Ohio": ("5,210 people", "1924", "Ida Frost"),
        "Denholm (parish)": ("77 people", "1698", "Hugh Marsh"),
    },
}
"""Name -> entity -> its population, the year its bridge opened, and its first mayor."""

TEMPLATES = (
    ("What is the population of {}?", "{title} has {answer}. The count of {answer} is official."),
    ("When was the bridge of {} opened?", "The bridge of {title} was opened on or in {answer}."),
    ("Who was the first mayor of {}?", "In {title} the first mayor was {answer}, a miller."),
)


def rows() -> list[dict[str, Any]]:
    """Nine questions, each with one document per entity of its name."""
    found: list[dict[str, Any]] = []
    for name, entities in ENTITIES.items():
        for place, (asked, says) in enumerate(TEMPLATES):
            documents = [
                {
                    "title": title,
                    "text": says.format(title=title, answer=answers[place]),
                    "pid": f"{title}-{place}",
                    "answer": answers[place],
                }
                for title, answers in entities.items()
            ]
            found.append(
                {
                    "question": asked.format(name),
                    "ambiguous_entity": name,
                    "qid": len(found) + 1,
                    "documents": documents,
                }
            )
    return found


def ambigdocs_text() -> str:
    """The rows as in the released file: one JSON list."""
    return json.dumps(rows(), indent=1)
