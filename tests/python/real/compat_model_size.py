"""compat_model_size.py [SHARED]: the model size profiler on real models; prints JSON.

Of each model: the text of our profile_model_size and the figures of profile_module, and, with the
shared folder, what the document's own program gives on the same model.
"""
import contextlib
import io
import json
import sys
from pathlib import Path

from models import MODELS

from vramscope.compat import model_size_profiler


def said(module, model):
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text):
            profiler = module.profile_model_size(model)
        return [text.getvalue(), profiler.profile_module(model)]
    except ValueError as error:  # parameters of a lazy module have no size yet
        return [type(error).__name__, str(error)]


def theirs(shared):
    import documents
    return documents.own_module(shared, "000", "class ModelSizeProfiler")


modules = {"ours": model_size_profiler}
if len(sys.argv) > 1:
    sys.modules["pytest"] = type(sys)("pytest")  # that documents.py skips with, which is not needed here
    modules["theirs"] = theirs(Path(sys.argv[1]))
made = {name: make() for name, make in MODELS.items()}
print(json.dumps({name: {which: said(module, model) for which, module in modules.items()}
                  for name, model in made.items()}))
