"""Importing a drop-in module loads little: no torch, no numpy, nothing printed, no thread."""
import json
import os
import subprocess
import sys

import pytest
from conftest import PACKAGE

MODULES = ("vramscope.compat.gpu_memory_1", "vramscope.compat.methodology", "vramscope.compat.model_size_profiler",
           "vramscope.compat.vram_profiler")
PROGRAM = """
import json, sys, threading
import vramscope
before = set(sys.modules)
import {module}
print(json.dumps([sorted(set(sys.modules) - before), threading.active_count()]))
"""


@pytest.mark.parametrize("module", MODULES)
def test_an_import_loads_no_torch(module, tmp_path):
    for name in ("torch", "numpy", "pandas", "IPython"):
        (tmp_path / (name + ".py")).write_text("raise SystemExit('%s was imported')" % name)
    done = subprocess.run([sys.executable, "-B", "-c", PROGRAM.format(module=module)], capture_output=True,
                          text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": PACKAGE})
    assert (done.returncode, done.stderr) == (0, "")
    loaded, threads = json.loads(done.stdout)
    assert module in loaded and len(loaded) <= 30 and threads == 1
