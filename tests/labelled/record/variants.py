"""A program as it is, with another batch, or with a line changed as a user would change it."""
import importlib
import sys
import types
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
FOLDERS = {path.stem: path.parent.name for path in sorted(HERE.glob("programs/*/[a-z]*.py"))}


def loaded(name):
    return importlib.import_module("programs.%s.%s" % (FOLDERS[name], name))


def edited(program, edits):
    """The program with each (old, new) of `edits` replaced, in what stands below its constants."""
    source = Path(program.__file__).read_text()
    starts = [at for at in (source.find("\n" + word) for word in ("def ", "class ", "@")) if at >= 0]
    head, body = source[:min(starts)], source[min(starts):]
    for old, new in edits:
        if body.count(old) != 1:
            raise SystemExit("%s: %d places with %r" % (program.__file__, body.count(old), old))
        body = body.replace(old, new)
    made = types.ModuleType(program.__name__)
    made.__file__, made.SOURCE = program.__file__, head + body
    sys.modules[made.__name__] = made  # classes of the program are looked up by it
    exec(compile(made.SOURCE, program.__file__, "exec"), made.__dict__)
    sys.modules[made.__name__] = program
    return made
