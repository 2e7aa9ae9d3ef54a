"""on_oom in a shell of IPython without a kernel; what each cell printed, as JSON."""
import contextlib
import io
import json
import re
import sys
import tempfile

from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()


def cell(text):
    """(stdout, stderr, whether it raised) of a cell."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        result = shell.run_cell(text)
    shown = re.sub(r"\x1b\[[\d;]*m|(?<=In\[)\d+", "", out.getvalue())
    return shown, err.getvalue(), type(result.error_in_exec).__name__


folder = tempfile.mkdtemp()
cells = {
    "plain": "1 / 0",
    "begins": f"import vramscope\nfrom vramscope import sim\nhandle = vramscope.on_oom({folder!r})\n"
              "device = sim.Device('1GiB')\nkept = device.alloc('400MiB', tag='weights')",
    "dies": "device.alloc('800MiB')",
    "other": "1 / 0",
    "cancels": "handle.cancel()",
    "after": "device.alloc('800MiB')",
}
found = {name: cell(text) for name, text in cells.items()}


def theirs(self, kind, error, trace, tb_offset=None):
    print("theirs", kind.__name__)


shell.set_custom_exc((RuntimeError,), theirs)
found["begins again"] = cell(cells["begins"])
found["theirs"] = cell(cells["dies"])
found["not theirs"] = cell(cells["other"])
cell(cells["cancels"])
found["theirs after"] = cell(cells["dies"])
json.dump(found, sys.stdout)
