"""Where the command `vramscope` is that was built with this package."""
import os
import sys
import sysconfig

from vramscope import _core

EXIT_FAILED = 3


def places() -> list[str]:
    """The files it can be, the best first: a build tree has its own, pip puts it among scripts."""
    built = os.path.join(os.path.dirname(_core.__file__), "..", "..", "cli")
    user = sysconfig.get_preferred_scheme("user")
    folders = (built, os.path.dirname(sys.executable or ""), sysconfig.get_path("scripts"),
               sysconfig.get_path("scripts", user))
    return [os.path.abspath(os.path.join(folder, "vramscope")) for folder in folders if folder]


def find() -> str | None:
    """Its path, or None."""
    return next((path for path in places() if os.path.isfile(path) and os.access(path, os.X_OK)),
                None)


def execute(words: list[str]) -> int:
    """Becomes the command with these words; returns an exit status only where that fails."""
    path = find()
    if path is None:
        looked = "".join(f"\n  {place}" for place in dict.fromkeys(places()))
        print(f"vramscope: the command is not here, pip install vramscope brings it; looked for"
              f"{looked}", file=sys.stderr)
        return EXIT_FAILED
    sys.stdout.flush()
    try:
        os.execv(path, ["vramscope", *words])
    except OSError as error:
        print(f"vramscope: {path}: {error.strerror}", file=sys.stderr)
        return EXIT_FAILED
