"""The magics, in a stand-in for IPython's shell; tests/python/real has the real one."""
import sys

import pytest
import vramscope
from conftest import ROOT
from integrations import shell as stand_in
from vramscope import sim

MIB = 1 << 20


@pytest.fixture
def shown(monkeypatch):
    shown = []
    stand_in.install(monkeypatch, shown)
    return shown


def usage_error():
    return sys.modules["IPython.core.error"].UsageError


@pytest.fixture
def gpu():
    with sim.Device("1GiB", history=0) as device:
        yield device


@pytest.fixture
def shell(shown, gpu):
    made = stand_in.Shell()
    vramscope.load_ipython_extension(made)
    made.user_ns["gpu"] = gpu
    return made


def test_a_cell_runs_in_the_users_namespace_and_is_measured(shell, shown, capsys):
    shell.magic("", "kept = gpu.alloc('8MiB')\ngpu.alloc('24MiB')\nprint('own')\nlen('four')")
    assert capsys.readouterr().out == "own\n4\n" and shell.user_ns["_"] == 4
    assert shell.user_ns["kept"].bytes == 8 * MIB and len(shown) == 1
    text = repr(shown[0][0])
    assert text.startswith("cell\n") and "32.00 MiB above the start" in text.replace("  ", " ")
    assert shown[0][1].startswith("<pre>cell\n")


def test_a_statement_is_measured(shell, shown, capsys):
    shell.magic("x = gpu.alloc('8MiB')")
    assert shell.user_ns["x"].bytes == 8 * MIB and "8.00 MiB" in repr(shown[0][0])
    assert shell.magic("-q  y = 1") is None and shell.user_ns["y"] == 1 and len(shown) == 1


def test_options(shell, shown):
    result = shell.magic("-r -n 'my cell'", "x = gpu.alloc('8MiB')")
    assert (result.name, result.delta_bytes, result.path) == ("my cell", 8 * MIB, ("my cell",)) and shown == []
    assert shell.magic("-q -r --device=0", "pass").device == 0
    assert shell.magic('-q -n "a b"', "pass") is None and shown == []
    for line, says in (("--what", "there is no option --what"), ("-n", "-n wants a value"), ("x", "nothing is wanted: x")):
        with pytest.raises(usage_error(), match=says):
            shell.magic(line, "pass")
    with pytest.raises(usage_error(), match="no device 7"):
        shell.magic("--device 7", "pass")


def test_paths_of_the_cell_are_its_own(shell):
    shell.magic("-q", "import vramscope\nwith vramscope.Profiler() as p, p.scope('inner') as made: pass")
    assert shell.user_ns["made"].result.path == ("inner",)


def test_a_failure_is_shown_once_and_stops_what_is_next(shell, shown, capsys):
    with pytest.raises(Exception) as raised:
        shell.magic("", "1 / 0")
    error = raised.value
    assert type(error).__name__ == "ZeroDivisionError" and error._render_traceback_() == []
    assert capsys.readouterr().err.count("ZeroDivisionError: division by zero") == 1
    assert len(shown) == 1 and repr(shown[0][0]).split()[-2:] == ["raised", "ZeroDivisionError"]
    with pytest.raises(Exception) as raised:
        shell.magic("-q", "def :")
    assert type(raised.value).__name__ == "SyntaxError"


def test_where_memory_ran_out_the_verdict_follows(shell, shown, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception) as raised:
        shell.magic("", "held = gpu.alloc('900MiB', tag='cache')\ngpu.alloc('512MiB')")
    assert type(raised.value).__name__ == "OutOfMemoryError"
    said = capsys.readouterr().err
    assert said.index("OutOfMemoryError: CUDA out of memory") < said.index("vramscope: memory ran out\nasked")
    assert not (tmp_path / "oom_dumps").exists()


def test_a_cell_is_recorded(shell, gpu, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shell.magic("-q --record '%s'" % (tmp_path / "a b.pickle"), "kept = gpu.alloc('8MiB')")
    with vramscope.load(tmp_path / "a b.pickle") as recording:
        assert sum(memoryview(recording["allocations.size"])) == 8 * MIB
    assert not gpu.history_enabled()
    with pytest.raises(Exception):
        shell.magic("-q --record oom.pickle", "held = gpu.alloc('900MiB')\ngpu.alloc('512MiB')")
    said = capsys.readouterr().err
    assert "The program holds too much" in said or "cuda:0" in said.split("memory ran out")[1]
    assert "\nvramscope oom oom_dumps" in said and (tmp_path / "oom.pickle").exists()
    assert not gpu.history_enabled()


def test_a_file_is_shown(shell, shown):
    shell.magic("report %s" % (ROOT / "examples" / "oom.pickle"))
    assert shown[0][0].kind == "report" and shown[0][1].startswith("<svg")
    for line in ("report", "report a b"):
        with pytest.raises(usage_error(), match="wants one file"):
            shell.magic(line)
    with pytest.raises(usage_error()):
        shell.magic("report /nowhere")


def test_report_is_a_name_like_others(shell, shown):
    for line in ("report = len('four')", "report += 1", "report: int = report", "report=report"):
        shell.magic("-q " + line)
    assert shell.user_ns["report"] == 5 and shown == []


def test_what_is_wrong_is_one_line_of_the_shell(shell, tmp_path):
    (tmp_path / "text").write_text("no snapshot")
    for line in ("", "-q", "report 'a", "report %s" % (tmp_path / "text")):
        with pytest.raises(usage_error()) as raised:
            shell.magic(line)
        assert ("text: " in str(raised.value)) == ("text" in line) and raised.value.__suppress_context__


def test_the_magic_has_its_usage(shell):
    said = shell.magics["line"]["vramscope"].__doc__
    assert "%vramscope report FILE" in said and "--record FILE" in said


def test_it_is_unloaded(shell):
    vramscope.unload_ipython_extension(shell)
    assert shell.magics == {"line": {}, "cell": {}}


def test_without_ipython_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    stand_in.forget(monkeypatch)
    with pytest.raises(ImportError, match=r"vramscope\[ipython\]"):
        vramscope.load_ipython_extension(stand_in.Shell())
