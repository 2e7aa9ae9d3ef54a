"""The text of a Measurement."""
from __future__ import annotations

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

_MIB = 1 << 20
_COLUMNS = ("median", "mean", "deviation", "least", "most", "p95", "p99")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _size(value: int | None) -> str:
    return "-" if value is None else f"{value / _MIB:,.2f} MiB"


def _times(rows: list[dict[str, Any]]) -> list[str]:
    lines = [f"{'in ms':10}{'clock':>8}{'count':>7}" +
             "".join(f"{name:>11}" for name in _COLUMNS)]
    for row in rows:
        lines.append(f"{row['name']:10}{row['clock']:>8}{row['count']:7}" +
                     "".join(f"{_number(row[name]):>11}" for name in _COLUMNS))
    for row in rows[:1] + [row for row in rows[1:] if row["name"] == "step"]:
        steady = row["steady_from"]
        lines.append(f"The first {row['name']} took {_number(row['first'])} ms; " +
                     ("it was not steady." if steady is None else
                      f"it was steady from number {steady + 1} on."))
    return lines


def _phases(rows: list[dict[str, Any]]) -> list[str]:
    lines = [f"{'memory':10}{'peak above begin':>20}{'kept in all':>16}{'got in all':>16}  state"]
    for row in rows:
        states = ", ".join(name for name, count in row["states"].items() if count)
        lines.append(f"{row['path'][-1]:10}{_size(row['peak_delta_bytes']):>20}"
                     f"{_size(row['growth_bytes']):>16}{_size(row['allocated_total_bytes']):>16}"
                     f"  {states}")
    return lines


def _loading(values: dict[str, Any]) -> list[str]:
    ratio = values.get("loading_to_computing")
    if not ratio:
        return []
    longer, other = ("Loading", "computing") if ratio > 1 else ("Computing", "loading")
    return [f"{longer} takes {max(ratio, 1 / ratio):.1f} times as long as {other}."]


def text_of(document: dict[str, Any]) -> str:
    """Tables of times and memory, and a line for each other figure."""
    values = {row["name"]: row["value"] for row in document["figures"]}
    clocks = {row["name"]: row["clock"] for row in document["figures"]}
    lines = _times(document["times"]) if document["times"] else []
    if document["phases"]:
        lines += ["", *_phases(document["phases"])]
    if "throughput" in values:
        lines += ["", *(f"{label}: {_number(values[name])} samples/s ({clocks[name]} clock)"
                        for label, name in (("Throughput", "throughput"),
                                            ("Without loading", "throughput_without_loading")))]
        lines += _loading(values)
        split = values["inactive_split_ratio"]
        if split is not None:
            lines.append(f"Of what is reserved {split * 100:.1f} % is split and can not be given "
                         "back.")
    if "utilisation" in values:
        percent, used = values["utilisation"], values["device_used_bytes"]
        lines.append("GPU Utilization: %s, Memory: %s" % (
            "unknown" if percent is None else f"{percent:.0f}%",
            "unknown" if used is None else f"{used // _MIB} MB"))
    import json
    lines += ["", "Conditions: " + json.dumps(document["conditions"])]
    return "\n".join([*lines, *document["notes"]])
