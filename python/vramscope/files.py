"""Files that appear whole: written beside their place, readable by their owner, then renamed."""
from __future__ import annotations

import os

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


def write_whole(path: Path, text: str) -> None:
    """Writes a text as UTF-8; nothing is left behind where that fails."""
    folder, name = os.path.split(os.fsdecode(path))
    part = os.path.join(folder, f".{name}.{os.getpid()}.part")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
