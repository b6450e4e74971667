"""The version of the package, written once."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("qchunker")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"
