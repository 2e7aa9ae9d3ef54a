"""Files that appear whole: written beside their place, readable by their owner, then renamed."""
from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_whole(path: Path, content: str | Callable[[BinaryIO], object]) -> None:
    """Writes a text as UTF-8, or what content(file) writes; nothing is left where that fails.

    A link is followed, as by open().  What is there and no regular file, a pipe or a device, is
    written to and stays what it is.  An OSError names the path that was given.
    """
    place = os.path.realpath(os.fsdecode(path))
    try:
        if os.path.exists(place) and not stat.S_ISREG(os.stat(place).st_mode):
            with open(place, "wb") as file:
                _fill(file, content)
        else:
            _replace(place, content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fsdecode(path)) from None


def _replace(place: str, content: str | Callable[[BinaryIO], object]) -> None:
    folder, name = os.path.split(place)
    part = os.path.join(folder, f".{name}.{os.getpid()}.part")
    fd = os.open(part, _NEW, 0o600)
    try:
        with open(fd, "wb") as file:
            _fill(file, content)
        os.replace(part, place)
    except BaseException:
        try:
            os.unlink(part)
        except OSError:
            pass  # it went with its folder
        raise


def _fill(file: BinaryIO, content: str | Callable[[BinaryIO], object]) -> None:
    if isinstance(content, str):
        file.write(content.encode("utf-8", "backslashreplace"))
    else:
        content(file)
