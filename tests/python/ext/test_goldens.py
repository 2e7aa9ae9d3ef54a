"""Over the command's golden tests: each answer that the command prints there is the package's, byte for byte.

The scripts run with a program in the command's place that runs the command, and tells this process what it was asked
and what it said.
"""
import json
import os
import socket
import stat
import subprocess
import threading

import pytest
import vramscope
from as_command import VERBS, Command, Other
from conftest import ROOT, program, some

SCRIPTS = sorted(p for p in (ROOT / "tests" / "cli").rglob("*.sh") if p.parent.name in VERBS)
# What they ask has no answer, or one of words alone, of folders, pipes or ranks.
OTHERS = {"categories/expressions", "categories/usage", "check/folder", "diff/usage", "replay/usage",
          "report/bad_among_good", "report/bad_page", "report/cut", "report/missing_forms", "report/no_list",
          "report/rank_map", "report/rank_map_idle", "report/ranks_json", "report/run_folder"}

STAND_IN = '''#!/usr/bin/python3 -ISE
import json, os, socket, subprocess, sys
env = {k: v for k, v in os.environ.items() if not k.startswith("GOLDEN_")}
env.pop("LD_PRELOAD", None)
done = subprocess.run([os.environ["GOLDEN_PROGRAM"], *sys.argv[1:]], stdout=subprocess.PIPE, env=env)
told = {"argv": [os.fsencode(a).decode("latin-1") for a in sys.argv[1:]], "folder": os.getcwd(), "code": done.returncode,
        "out": done.stdout.decode("latin-1"), "env": {k: env.get(k, "") for k in ("COLUMNS", "LC_ALL", "LC_CTYPE", "LANG")}}
with socket.socket(socket.AF_UNIX) as s:
    s.connect(os.environ["GOLDEN_SOCKET"])
    s.sendall(json.dumps(told).encode())
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
os.write(1, done.stdout) if done.stdout else None
sys.exit(done.returncode)
'''


def told(connection):
    parts = iter(lambda: connection.recv(1 << 16), b"")
    return json.loads(b"".join(parts))


def compare(run):
    """What the package says otherwise; "": the same; None: there was no answer, or the command did what only it does."""
    argv = [os.fsdecode(a.encode("latin-1")) for a in run["argv"]]
    out = run["out"].encode("latin-1").decode("utf-8", "surrogateescape")
    if not argv or argv[0] not in VERBS or run["code"] not in (0, 1) or not out:
        return None
    try:
        have = Command(argv, run["folder"], run["env"]).output()
    except Other:
        return None
    except (vramscope.Error, ValueError, TypeError, IndexError) as error:
        return "%s: %r" % (argv, error)
    return "" if have == out else "%s:\n%s\nbut the command said\n%s" % (argv, have, out)


@pytest.fixture
def stand_in(tmp_path):
    path = tmp_path / "vramscope"
    path.write_text(STAND_IN)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    listener.listen()
    wrong = []

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    wrong.append(compare(told(connection)))
                except BaseException as error:  # the script must not wait for ever
                    wrong.append(repr(error))

    thread = threading.Thread(target=serve)
    thread.start()
    yield path, tmp_path / "s", wrong
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.parametrize("script", SCRIPTS[::some(6, 1)], ids=lambda p: "%s-%s" % (p.parent.name, p.stem))
def test_an_answer_of_a_golden_test_is_the_packages(script, stand_in, tmp_path):
    path, address, wrong = stand_in
    dropped = ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PAGER", "LD_PRELOAD")
    env = {k: v for k, v in os.environ.items() if k not in dropped and not k.startswith("LC_")}
    built = os.path.dirname(os.path.dirname(program()))
    env.update(VRAMSCOPE=str(path), GOLDEN_PROGRAM=program(), GOLDEN_SOCKET=str(address), EXAMPLES=str(ROOT / "examples"),
               RECORDINGS=str(ROOT / "tests" / "recordings"), LC_ALL="C.UTF-8", LANG="C.UTF-8", TZ="UTC", TERM="dumb",
               MAKE_RECORDING=os.path.join(built, "tests/recordings/make_recording"), HOME=str(tmp_path))
    folder = tmp_path / "folder"
    folder.mkdir()
    subprocess.run(["sh", str(script)], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    assert [w for w in wrong if w] == []
    name = "%s/%s" % (script.parent.name, script.stem)
    assert ("" in wrong) == (name not in OTHERS), name
