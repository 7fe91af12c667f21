"""Arguments lightly changed: some common words replaced, all else as it is.

Between verbatim copies, which shared words tell without fail, and paraphrases, which they do not.
"""

import re
from functools import cache

_SWAPS = """
    ability: capacity; available: on offer; banning: forbidding; benefits: advantages;
    better: superior; caused: brought about; causes: brings about; change: shift; changes: shifts;
    children: kids; citizens: nationals; companies: firms; create: make; creates: makes;
    crime: lawbreaking; criminals: offenders; current: present; cut: trim; deaths: fatalities;
    eating: consuming; government: state; guns: firearms; harmful: damaging; health: well-being;
    help: aid; helps: aids; high: elevated; improve: better; improves: betters; increase: raise;
    increases: raises; jobs: positions; kill: slay; laws: statutes; lead: give rise;
    leads: gives rise; legal: lawful; life: existence; lower: smaller; make: render;
    makes: renders; many: numerous; money: funds; needed: required; people: persons; prevent: stop;
    prevents: stops; primarily: mainly; private: non-public; protect: guard; protects: guards;
    provide: supply; provides: supplies; rate: share; rates: shares; reduce: lessen;
    reduces: lessens; restrict: curb; results: outcomes; rise: climb; safer: less risky;
    safety: freedom from danger; students: pupils; support: backing; use: employ; women: females;
    world: globe; would: might
"""

SWAPS = dict(pair.split(": ") for pair in re.split(r";\s+", _SWAPS.strip()))
"""Common words of arguments -> what stands for them. Nobody would call the result a paraphrase."""


def lightly(argument: str) -> str:
    """An argument with its common words replaced, those in a capital by such; always the same."""
    return _common().sub(_swapped, argument)


def _swapped(found: re.Match[str]) -> str:
    word = found[0]
    put = SWAPS[word.lower()]
    return put.capitalize() if word[0].isupper() else put


@cache
def _common() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(SWAPS)})\b", re.IGNORECASE)
