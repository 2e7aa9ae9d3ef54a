"""vramscope: open snapshots of GPU memory, ask them, read their columns.

>>> import vramscope
>>> with vramscope.load("examples/oom.pickle") as recording:
...     recording.oom().verdict
True
"""
from vramscope import _core
from vramscope._core import (Column, Error, File, Recording, Result, category_rules, is_own, merge,
                             open, size, version)

__all__ = ["Column", "Error", "File", "Recording", "Result", "category_rules", "is_own", "load",
           "merge", "open", "size", "version"]
__version__ = version()


def load(source, *, entry=None, limits=None, progress=None, replay="auto", threads=None):
    """Opens a snapshot that is one recording; of a page of several, the `entry` by number or name.

    Arguments are those of `open`. Raises Error, with the status "usage" where there are several
    recordings and no `entry` says which, or none that it names.
    """
    return _core.only(open(source, limits=limits, progress=progress, replay=replay,
                           threads=threads), entry)
