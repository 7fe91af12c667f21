"""Which topics are for training, development and test (NPOV, appendix A, table 4)."""

import re
from collections.abc import Mapping
from typing import Literal

Split = Literal["train", "dev", "test"]

_TOPICS: Mapping[Split, str] = {
    "train": """Animal Dissection; Concealed Handguns; Cuba Embargo; Filibuster; Free College;
        GMOs; Net Neutrality; Obesity; Vaping E-Cigarettes""",
    "dev": """Binge-Watching; Cancel Culture; Churches and Taxes; College Education; Corporal
        Punishment; Daylight Saving Time; Dress Codes; Electoral College; Employer Vaccine Mandates;
        Fighting in Hockey; Golf; Homework; Kneeling during National Anthem; Marijuana (CBD) for
        Pets; Olympics; Penny; Pit Bull Bans; Pokémon; School Vouchers; Space Colonization;
        Standardized Tests; Student Loan Debt; Tablets vs. Textbooks; Teacher Tenure; Uber & Lyft;
        US Supreme Court Packing; Video Games and Violence; Zoos""",
    "test": """Abortion; American Socialism; Animal Testing; Artificial Intelligence; Banned Books;
        Bottled Water Ban; Cell Phone Radiation; Climate Change; Corporate Tax Rate; DACA &
        Dreamers; DC and Puerto Rico Statehood; Defund the Police; Drone Strikes Overseas; Fracking;
        Gold Standard; Gun Control; Historic Statue Removal; Mandatory National Service; Minimum
        Wage; OTC Birth Control; Paying College Athletes; Police Body Cameras; Prescription Drug
        Costs; Private Prisons; Recreational Marijuana Legalization; Reparations for Slavery; Right
        to Health Care; Sanctuary Cities; Saturday Halloween; School Uniforms; Social Media; Social
        Security Privatization; Universal Basic Income; Vaccines for Kids; Vegetarianism""",
}

_SAID_OTHERWISE = """
    Concealed guns: Concealed Handguns; Corporate tax: Corporate Tax Rate;
    Drones: Drone Strikes Overseas; Healthcare: Right to Health Care;
    Marijuana: Recreational Marijuana Legalization; Social networking: Social Media;
    Social security: Social Security Privatization; Vegetarian: Vegetarianism;
    Bottled water should be banned: Bottled Water Ban;
    Corporal punishment be used in K-12 schools: Corporal Punishment;
    Fighting should be allowed in hockey: Fighting in Hockey; Homework is beneficial: Homework;
    Net neutrality should be restored: Net Neutrality;
    Parents or other adults should be able to ban books from schools and libraries: Banned Books;
    Refusing to stand for the National Anthem is an appropriate form of protest:
        Kneeling during National Anthem;
    Sanctuary cities are beneficial: Sanctuary Cities;
    School vouchers should be encouraged: School Vouchers;
    Student loan debt should be easier to discharge in bankruptcy: Student Loan Debt;
    The penny should stay in circulation: Penny;
    The United States should use the electoral college in presidential elections:
        Electoral College;
    We should support universal basic income: Universal Basic Income
"""
"""What scrapes of other years call these topics, by address or by title -> table 4's name."""


def split_of(topic: str) -> Split | None:
    """Where a topic belongs; None of a topic that table 4 has not.

    The name may be table 4's or that of a scrape of the site; capitals, blanks and signs do not
    matter.
    """
    return _SPLITS.get(topic_key(topic))


def topic_key(topic: str) -> str:
    """The same of all names of a topic: table 4's, and those of scrapes of the site."""
    plain = _plain(topic)
    return _SAME.get(plain, plain)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name.lower())


_SPLITS = {_plain(name): split for split, names in _TOPICS.items() for name in names.split(";")}
_PAIRS = (pair.split(":") for pair in _SAID_OTHERWISE.split(";"))
_SAME = {_plain(other): _plain(name) for other, name in _PAIRS}
