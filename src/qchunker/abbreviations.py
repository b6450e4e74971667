"""English words that tell whether a full stop ends a sentence."""

from __future__ import annotations


def _words(line: str) -> frozenset[str]:
    return frozenset(line.split())


# Words before a full stop that never end a sentence, then those that do not before a number or a
# single capital, then those that end one only if a common opening word follows.
NEVER_END = _words(
    "Dr Mr Mrs Ms Mx Prof Rev Hon Gen Lt Col Sgt Maj Capt Cmdr Gov Sen Rep Messrs Mme Mlle "
    "e.g i.e eg ie cf viz vs v approx ca figs eqs nos vols pp secs resp incl excl E.g I.e Cf Approx "
    "Figs Eqs Nos Vols Pp Secs"
)
BEFORE_NUMBER = _words(
    "no fig eq vol sec art ch p para tab app ver ex ref refs pt item cl reg tel ext c b d s paras pos"
)
SELDOM_END = _words(
    "Inc inc Ltd ltd Co Corp LLC LLP PLC Bros Jr Sr al St Ave Blvd Rd Dept dept Est Univ Assn Mt Ft Ed eds "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun"
)
ABBREVIATIONS = NEVER_END | SELDOM_END | {"Etc"}
ABBREVIATED = frozenset(word.lower() for word in ABBREVIATIONS | BEFORE_NUMBER)
OPENING_WORDS = _words(
    "The This That These Those It Its He She They We You I A An In On At If When While After Before For "
    "But And So However There Here What Who Why How My Our His Her Their No Not Yes As By To From With "
    "Some Many Most All Any Each Every Then Thus Therefore Also Although Because Since Please Once "
    "Until Where Which Nobody Nothing Everyone Both Neither Either Let Do Does Did Is Are Was Were"
)
