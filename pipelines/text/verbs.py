"""Forms of English verbs, as far as questions put as statements need them.

A small table and the spelling rules, no parser: a word that is not in the table is not taken for a
verb, and the caller falls back to a form that needs none.
"""

import re

_IRREGULAR = """
arise arose, bear bore, beat beat, become became, begin began, bite bit, blow blew, break broke,
bring brought, build built, burn burned, buy bought, catch caught, choose chose, come came,
cost cost, cut cut, deal dealt, do did, draw drew, drink drank, drive drove, eat ate, fall fell,
feed fed, feel felt, fight fought, find found, fly flew, forget forgot, get got, give gave, go went,
grow grew, have had, hear heard, hide hid, hit hit, hold held, hurt hurt, keep kept, know knew,
lay laid, lead led, leave left, lend lent, let let, lie lay, lose lost, make made, mean meant,
meet met, pay paid, put put, quit quit, read read, ride rode, rise rose, run ran, say said, see saw,
seek sought, sell sold, send sent, serve served, set set, shine shone, shoot shot, show showed,
shut shut, sing sang, sink sank, sit sat, sleep slept, speak spoke, spend spent, split split,
spread spread, stand stood, steal stole, stick stuck, strike struck, swim swam, take took,
teach taught, tell told, think thought, throw threw, understand understood, undergo underwent,
wake woke, wear wore, win won, withdraw withdrew, write wrote
"""

_REGULAR = """
achieve act add adopt affect aid allow announce appear apply appoint argue arrive ask associate
attack attend attract author avoid ban base belong benefit boost call cancel carry cause celebrate
change close coach collapse combine compete compose conduct connect conquer consist construct
contain continue contribute control convert cook cover crash create cross cure damage debut decide
declare decline decrease defeat defend deliver depart depend depict describe deserve design destroy
develop die direct disappear discover disrupt earn enable enact encourage end enhance enjoy ensure
enter enhance establish evolve exist expand experience explain explore express extend face fail
favor feature finish fit flow focus follow force form found function fund gain generate govern
graduate happen harm hate heal help host identify impact improve include increase influence inhabit
inherit inspire intend introduce invade invent involve issue join kill land last launch like limit
list live locate look love maintain manage manufacture marry matter migrate mine move name need
neglect occur offer open operate originate outperform outweigh own participate pass perform play
portray practice practise prefer present prevent produce promote propose protect prove provide
publish pursue qualify raise reach receive recognize record reduce refer refuse regulate reject
relate release relocate rely remain remove repair replace represent require reside resign result
retire return reveal rule save score separate share sign slow smell solve specialise specialize
start state stay stop study succeed suffer suggest support surrender survive talk taste tend
terminate threaten trade train travel treat trigger turn unite use vary view violate visit vote
walk want work worsen
"""

_DOUBLED = {"ban", "fit", "stop", "refer", "plan", "occur"}

_PAST = dict.fromkeys(_REGULAR.split(), "") | dict(
    pair.split() for pair in _IRREGULAR.replace("\n", " ").strip().split(", ")
)

_IRREGULAR_PARTICIPLES = """
based begun born bought broken brought built cast chosen come cut dealt done drawn driven fed felt
fought found given gone grown held hidden hit hung kept known laid led left lost made meant met paid
put read run said seen sent set shot shown sold sown spent split spoken stolen struck sung sunk
taken taught thought told torn understood won worn written beaten
"""

_PARTICIPLES = set(_IRREGULAR_PARTICIPLES.split())

_NO_PARTICIPLE = {"red", "bed", "hundred", "sacred", "need", "speed", "seed", "breed", "united"}


def is_verb(word: str) -> bool:
    """Whether a word is the base form of a verb that is known here."""
    return word in _PAST


def past(verb: str) -> str:
    """The simple past of a base form: "play" -> "played", "begin" -> "began"."""
    if irregular := _PAST.get(verb):
        return irregular
    if verb.endswith("e"):
        return f"{verb}d"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1]}ed" if verb in _DOUBLED else f"{verb}ed"


def third_person(verb: str) -> str:
    """The third person singular of a base form: "play" -> "plays", "carry" -> "carries"."""
    if verb in {"have", "do", "go"}:
        return {"have": "has", "do": "does", "go": "goes"}[verb]
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(s|x|z|ch|sh)$", verb) else f"{verb}s"


def is_participle(word: str) -> bool:
    """Whether a word in lower case looks like a past participle: "built", "established"."""
    if word in _PARTICIPLES:
        return True
    return len(word) > 3 and word.endswith("ed") and word.islower() and word not in _NO_PARTICIPLE
