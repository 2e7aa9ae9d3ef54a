"""Names of tensors of any length: answers show their beginning."""
import pytest
from recordings import named, scripts

from conftest import run


@pytest.mark.parametrize("name", ("w" * 262144, "\u0001" * 262144, "\u4e2d" * 262144), ids=("letters", "controls", "wide"))
def test_names_of_any_length_are_shown_in_part(tmp_path, name):
    said = {"kind": "parameter", "name": name, "dtype": name, "of": name, "shape": [1 << 40] * 64, "shared": [name] * 64}
    path = named.written(tmp_path, scripts.make(named.LAYERS), {20: said, 22: dict(said, name="short")})
    for verb in ("report", "peak"):
        text = run(verb, "--ascii", path, expect=0).out
        assert "short" in text and len(text) < 40_000
    rows = run("peak", "--json", path, expect=0).json()["devices"][0]["result"]["rows"]
    [tensors] = [row["tensors"] for row in rows if "tensors" in row]
    shown = tensors[1]["name"]
    assert tensors[0]["name"] == "short" and len(shown.encode()) <= 1024 + 3
    assert shown.endswith("\u2026") and name.startswith(shown[:-1]) and len(shown.encode()) > 1000
