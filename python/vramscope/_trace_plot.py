"""python -m vramscope trace_plot FILE [-o OUT], or snapshot html: `vramscope view` in older words."""
import argparse
import os

from vramscope import _command


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m vramscope trace_plot", allow_abbrev=False)
    parser.add_argument("file", metavar="FILE", help="the snapshot")
    parser.add_argument("-o", "--output", metavar="OUT",
                        help="the page (default: beside FILE, with .html)")
    asked = parser.parse_args(words)
    if asked.output is not None:
        return _command.execute(["view", "-o", asked.output, "--", asked.file])
    file = asked.file
    if os.path.isfile(file):
        # The command names a page after its file, in the folder it runs in.
        folder, file = os.path.split(file)
        os.chdir(folder or ".")
    return _command.execute(["view", "--", file])
