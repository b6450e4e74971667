"""The exception tree. Every error says what was wrong, where, and what to do next.

QChunkerError
  InputError (also ValueError)
    UnsupportedFormatError    no parser for this kind of file
    ParseError                the file is broken, empty, encrypted, or has no text
    ConfigError               a setting has an impossible value
  MissingExtraError (also ImportError)   an optional package is not installed
  MissingModelError           the weights of a model are not on this machine
  ModelError                  a model or its server failed
    ModelUnavailableError     it may succeed later (retryable)
    ModelOutputError          it answered something unusable
  BudgetError                 a run has spent what it may
  RunBusyError                another process works on the same run (retryable)
  ScoringError                something that has no score
  OutputError                 a result could not be written
  StoreError                  an index could not be read or written
    StoreMismatchError        it was made with another embedder, dimension or schema
    StoreBusyError            another process is writing to it (retryable)
    StoreCorruptError         its files are damaged
"""

from __future__ import annotations

from typing import Any

_SAVE_ANEW = "open it in the program it comes from, and save it anew if it is intact there"


class QChunkerError(Exception):
    """Base of all errors raised on purpose by this package.

    Attributes:
        hint: what the reader can do about it; one sentence, may be empty.
        retryable: whether the same call may succeed later without a change.
    """

    retryable = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} ({self.hint})" if self.hint else message

    @property
    def reason(self) -> str:
        """The message without the hint."""
        return super().__str__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[QChunkerError], args: tuple[Any, ...], state: dict[str, Any]) -> QChunkerError:
    """An error from another process; its arguments are not those that it was made with."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(QChunkerError, ValueError):
    """The caller gave something that cannot be processed."""


class UnsupportedFormatError(InputError):
    """No parser reads this kind of file."""


class ParseError(InputError):
    """A file could not be turned into a document.

    Attributes:
        source: the name of the file, as the caller gave it.
    """

    def __init__(self, source: str, reason: str, *, hint: str = _SAVE_ANEW) -> None:
        super().__init__(f"{source}: {reason}", hint=hint)
        self.source = source


class ConfigError(InputError):
    """A setting has an impossible value.

    Attributes:
        field: the name of the setting.
    """

    def __init__(self, field: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{field}: {reason}", hint=hint)
        self.field = field


class MissingExtraError(QChunkerError, ImportError):
    """An optional package is needed and not installed.

    Attributes:
        package: the package to install.
    """

    def __init__(self, package: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed",
            hint=f"run: pip install {package}",
        )
        self.package = package


class MissingModelError(QChunkerError):
    """The weights of a model are not on this machine; the hint is the command that brings them.

    Attributes:
        model: the name of the model.
    """

    def __init__(self, model: str, reason: str, *, command: str) -> None:
        super().__init__(f"{model}: {reason}", hint=f"run: {command}")
        self.model = model


class ModelError(QChunkerError):
    """A model, or the server that runs it, failed.

    Attributes:
        model: the name of the model.
    """

    def __init__(self, model: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{model}: {reason}", hint=hint)
        self.model = model


class ModelUnavailableError(ModelError):
    """A server does not answer, or asks to be left alone for a while."""

    retryable = True


class ModelOutputError(ModelError):
    """A model answered something that cannot be used."""


class BudgetError(QChunkerError):
    """A run has spent what it may.

    Attributes:
        budget: that was given.
    """

    def __init__(self, reason: str, *, budget: float) -> None:
        hint = "give more with --budget; with --run-dir, what is finished is not paid again"
        super().__init__(f"the budget of {budget:,.10g} is not enough: {reason}", hint=hint)
        self.budget = budget


class ScoringError(QChunkerError, ValueError):
    """Something was to be scored that has no score: no chunk, no token, a blank text, a number that is not finite."""


class RunBusyError(QChunkerError):
    """Another process works on the same run."""

    retryable = True


class OutputError(QChunkerError):
    """A result could not be written."""


class StoreError(QChunkerError):
    """An index could not be read or written.

    Attributes:
        store: the folder, file or address of the index.
    """

    def __init__(self, store: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"{store}: {reason}", hint=hint)
        self.store = store


class StoreMismatchError(StoreError):
    """An index was made with something else than it is opened with.

    Attributes:
        field: what differs, such as ``embedder``.
        found: what the index says.
        expected: what it was opened with.
    """

    def __init__(self, store: str, field: str, found: object, expected: object) -> None:
        reason = f"its {field} is {found!r}, not {expected!r}"
        super().__init__(store, reason, hint="open it with what it was made with, or delete it and index again")
        self.field, self.found, self.expected = field, found, expected


class StoreBusyError(StoreError):
    """Another process is writing to the index."""

    retryable = True


class StoreCorruptError(StoreError):
    """The files of an index are damaged."""
