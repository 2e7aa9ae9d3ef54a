"""How drop-in modules print: as their originals do, also where stdout knows no such characters."""
import sys

# What ASCII has for the characters that the originals print.
_PLAIN = (("└─", "+-"), ("⚠️", "!"), ("✅", "ok"), ("🎯", ">>"), ("°", " deg "), ("↔", "<->"))


def out(text: str) -> None:
    """Prints one text, which may be several lines, to the sys.stdout of the moment.

    Characters that its encoding lacks become what stands for them in ASCII; those of names that a
    program gave are escaped, where the original would have ended with a UnicodeEncodeError.
    """
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        for drawn, plain in _PLAIN:
            text = text.replace(drawn, plain)
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    print(text)
