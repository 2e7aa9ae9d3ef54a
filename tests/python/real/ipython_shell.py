"""The magics in a shell of IPython that has no kernel."""
import contextlib
import io
import json
import sys

try:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
except ModuleNotFoundError:
    print(json.dumps(None))
    sys.exit()
from vramscope import sim

shell, errors = InteractiveShell.instance(), io.StringIO()
answer = {}


def run(name, code):
    """A cell as a user types it; its output, and what failed."""
    with capture_output() as said, contextlib.redirect_stderr(errors):
        done = shell.run_cell(code, store_history=True)
    failed = done.error_in_exec or done.error_before_exec
    answer[name] = {"out": said.stdout, "shown": [dict(output.data) for output in said.outputs],
                    "failed": type(failed).__name__ if failed is not None else None}


with sim.Device("1GiB", history=0) as device:
    shell.user_ns["gpu"] = device
    run("load", "%load_ext vramscope")
    run("cell", "%%vramscope -n load\nkept = gpu.alloc('8MiB')\nprint('own')\n6 * 7")
    run("last", "_")
    run("line", "%vramscope x = gpu.alloc('8MiB')")
    run("result", "r = %vramscope -r y = gpu.alloc('8MiB')\n(r.delta_bytes, x.bytes)")
    run("fails", "%%vramscope -q\n1 / 0")
    run("memory", "%%vramscope -q\ngpu.alloc('2GiB')")
    run("report", "%vramscope report " + sys.argv[1])
    run("unload", "%unload_ext vramscope")
answer["stderr"] = errors.getvalue()
print(json.dumps(answer, default=repr))
