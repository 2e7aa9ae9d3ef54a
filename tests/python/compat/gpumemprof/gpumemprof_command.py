"""Runs the command of compat.gpumemprof in this process, and compares what it prints with golden files.

VRAMSCOPE_UPDATE_GOLDEN=1 writes them anew: read the difference.
"""
import io
import os
import re
import sys
from pathlib import Path

from vramscope.compat.gpumemprof import cli

GOLDEN = Path(__file__).parents[1] / "golden/gpumemprof_command"


class Ran:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def run(*argv, encoding="utf-8"):
    """The exit status and what was printed, as a terminal of that encoding gets it."""
    kept = sys.stdout, sys.stderr
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n") for _ in range(2)]
    sys.stdout, sys.stderr = streams
    try:
        status = cli.main([str(arg) for arg in argv])
        for stream in streams:
            stream.flush()
    finally:
        sys.stdout, sys.stderr = kept
    return Ran(status, *(stream.buffer.getvalue().decode(encoding) for stream in streams))


def masked(text, folder=None):
    """The text without what differs from machine to machine."""
    text = text.replace(sys.version, "{python}")
    text = text if folder is None else text.replace(str(folder), "{folder}")
    return re.sub(r"diagnose-\d{8}-\d{6}", "diagnose-{time}", text)


def check_golden(name, text):
    path = GOLDEN / name
    if os.environ.get("VRAMSCOPE_UPDATE_GOLDEN"):
        path.write_bytes(text.encode("utf-8"))
    assert path.read_bytes().decode("utf-8") == text


def check_printed(name, *argv, status=0, folder=None):
    """Bytes in UTF-8 and in ASCII are those of the golden files; the latter has none of its own where both are equal."""
    for encoding, ending in (("utf-8", ".txt"), ("ascii", ".ascii.txt")):
        done = run(*argv, encoding=encoding)
        assert (done.status, done.err) == (status, "")
        text = masked(done.out, folder)
        is_same = encoding == "ascii" and not os.path.exists(GOLDEN / f"{name}{ending}")
        check_golden(f"{name}.txt" if is_same else f"{name}{ending}", text)
