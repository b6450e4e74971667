"""What a model says of a group, as far as the group says it too."""

from __future__ import annotations

import re

from qchunker.debate.verify_words import is_invisible
from qchunker.qa.figures import figures
from qchunker.qa.support import Scope, names_of
from qchunker.qa.words import content_words

_LEAST = 0.5
_URL = re.compile(r"(?:\w{1,20}://|(?<![a-z0-9])(?:www\.|mailto:))[^\s<>\"'“”‘’，。；、（）]*", re.IGNORECASE)


def checked_summary(summary: str, scope: Scope) -> str:
    """A summary without control characters and addresses; empty where it is not of its group.

    Args:
        summary: of the group, by a model.
        scope: of the group: its figures, names, and half of the words of the summary must be there.
    """
    blank = "".join(" " if char.isspace() else char for char in summary)
    shown = " ".join(_URL.sub(" ", "".join(char for char in blank if not is_invisible(char))).split())
    words = content_words(shown)
    if not words or scope.wide.share(words) < _LEAST:
        return ""
    if any(scope.numbers.problem(figure) in ("number", "unit") for figure in figures(shown)):
        return ""
    known = all(word in scope.wide for name in names_of(shown) for word in content_words(name))
    return shown if known else ""
