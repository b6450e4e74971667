"""Plots as SVG text, for pages that must need nothing else."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from qchunker.bench.metrics.packages import bench_package

_SIZE = (7.0, 0.32)  # inches: width, and height per row
_COLOURS = ("#0b5fa5", "#c4520a", "#2a7d3f", "#7a3fa0", "#8a6d00", "#a02c4a")
_MOST_ROWS = 60


def intervals(rows: Sequence[tuple[str, Mapping[str, tuple[float, float, float]]]], zero: bool, label: str) -> str:
    """Means with intervals, a row per name and a colour per series.

    Args:
        rows: name, and series to (mean, low, high).
        zero: whether a line stands at 0, for differences.
        label: of the axis.
    """
    figure, axes = _figure(_SIZE[0], 1.1 + _SIZE[1] * min(len(rows), _MOST_ROWS) * max(1, len(rows[0][1])) / 2)
    series = list(rows[0][1])
    for number, one in enumerate(series):
        places = [at + (number - (len(series) - 1) / 2) * 0.22 for at in range(len(rows))]
        found = [values[one] for _, values in rows]
        means = [mean for mean, _, _ in found]
        errors = [[mean - low for mean, low, _ in found], [high - mean for mean, _, high in found]]
        axes.errorbar(
            means, places, xerr=errors, fmt="o", ms=3.5, lw=1.2, color=_COLOURS[number % len(_COLOURS)], label=one
        )
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.invert_yaxis()
    if zero:
        axes.axvline(0, color="#888", lw=0.8)
    axes.set_xlabel(label)
    axes.grid(axis="x", color="#ddd", lw=0.6)
    if len(series) > 1:
        axes.legend(fontsize=8, frameon=False, loc="best")
    return _svg(figure)


def lines(series: Mapping[str, tuple[Sequence[float], Sequence[float]]], x_label: str, y_label: str) -> str:
    """Curves over one axis, such as a correlation over a weight.

    Args:
        series: name to (x, y).
        x_label: of the axis.
        y_label: of the other.
    """
    figure, axes = _figure(_SIZE[0], 3.6)
    for number, (name, (x, y)) in enumerate(series.items()):
        axes.plot(x, y, lw=1.4, color=_COLOURS[number % len(_COLOURS)], label=name)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(color="#ddd", lw=0.6)
    axes.legend(fontsize=8, frameon=False)
    return _svg(figure)


def points(rows: Sequence[tuple[str, float, float]], x_label: str, y_label: str) -> str:
    """Named points, such as methods by score and metric."""
    figure, axes = _figure(_SIZE[0], 4.2)
    for number, (name, x, y) in enumerate(rows):
        axes.plot([x], [y], "o", ms=4, color=_COLOURS[number % len(_COLOURS)])
        axes.annotate(name, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7.5)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(color="#ddd", lw=0.6)
    return _svg(figure)


def _figure(width: float, height: float) -> tuple[Any, Any]:
    bench_package("matplotlib", "plots")
    from matplotlib.figure import Figure  # no window system and no global state

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _svg(figure: Any) -> str:
    import matplotlib

    # Without a date and with fixed ids, so that the same numbers give the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": "qchunker", "svg.fonttype": "none", "font.size": 9}):
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]
