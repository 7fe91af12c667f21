"""Calendar days in texts, as people write them."""

import re
from datetime import date

_NAMES = (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "jan feb mar apr may jun jul aug sept oct nov dec",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
)
MONTHS = tuple(_NAMES[0].split())
MONTH = "|".join(map(str.capitalize, MONTHS))
"""A pattern: "January|February|...", written out and in English."""
MONTH_NUMBERS = {
    name: number
    for names in _NAMES
    for line in (names, names.translate(str.maketrans("äéû", "aeu")))
    for number, name in enumerate(line.split(), 1)
}
"""Names of months and their usual short forms, in lower case -> 1 to 12."""

ISO_DAY = r"(?<![\w-])[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?![\w-])"

_MONTH = rf"(?P<month>{'|'.join(MONTH_NUMBERS)})"
_DAY = r"(?P<day>[0-9]{1,2})"
_YEAR = r"(?P<year>[0-9]{4})"
_BETWEEN = r"(?:st|nd|rd|th|er)?[ ,./-]{1,3}(?:of |de )?"
_ORDERS = tuple(
    re.compile(rf"(?<![\w.,/-]){order}(?![\w-]|\.[0-9])", re.IGNORECASE)
    for order in (
        _DAY + _BETWEEN + _MONTH + _BETWEEN + _YEAR,
        _MONTH + _BETWEEN + _DAY + _BETWEEN + _YEAR,
        rf"{_DAY}\. ?(?P<month>[0-9]{{1,2}})\. ?{_YEAR}",
        rf"{_YEAR}(?P<mark>[-./])(?P<month>[0-9]{{1,2}})(?P=mark){_DAY}",
        rf"{_YEAR}[年년] ?(?P<month>[0-9]{{1,2}})[月월] ?{_DAY}[日일]",
    )
)


def with_iso_days(text: str) -> str:
    """A text with ISO dates: "15 July 1905" and "15.7.1905" become "1905-07-15".

    A day needs a month and a year of four digits. Months may be English, German, French or Spanish.
    Dotted dates begin with the day or the year. Forms that countries read differently (7/15/1905,
    7-8-1905) and two-digit years stay as they are.
    """
    for order in _ORDERS:
        text = order.sub(_as_iso, text)
    return text


def _as_iso(found: re.Match[str]) -> str:
    """The day in ISO's form; impossible days ("31 June 1905") stay as they are."""
    month = MONTH_NUMBERS.get(found["month"].lower(), found["month"])
    try:
        return date(int(found["year"]), int(month), int(found["day"])).isoformat()
    except ValueError:
        return found[0]
