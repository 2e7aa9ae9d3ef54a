"""The page's program in each form that tools/bundle makes of it, in a page that is written already."""
import importlib.machinery
import importlib.util
import re
from functools import lru_cache

import pytest

from conftest import ROOT

FORMS = ("source", "bare", "minified")
ESBUILD = ROOT / "build/minifier/node_modules/.bin/esbuild"
# What of a page is the program's: the policy with its hashes, the style, the packed program, the loader.
OWN = (r'(http-equiv="Content-Security-Policy" content=")[^"]*(")', r"(<style>).*?(</style>)",
       r'(<script[^>]* id="app">).*?(</script>)', r"(<script>)(?!vrs_block).*?(</script>)")


def bundler():
    """tools/bundle as a module."""
    loader = importlib.machinery.SourceFileLoader("bundle", str(ROOT / "tools/bundle"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bundle", loader))
    loader.exec_module(module)
    return module


def esbuild():
    if not ESBUILD.exists():
        pytest.skip("no esbuild here: tools/setup build installs it where npm is")
    return ESBUILD


@lru_cache(maxsize=None)
def template(form):
    """The page without a recording."""
    return bundler().filled(ROOT / "viewer", form == "source", esbuild() if form == "minified" else None)


def with_program(page, form):
    """The text of a page, with another form of the program."""
    for pattern in OWN:
        own = re.search(pattern, template(form), re.S)
        page, count = re.subn(pattern, lambda _: own[0], page, count=1, flags=re.S)  # noqa: B023
        assert count == 1, pattern
    return page
