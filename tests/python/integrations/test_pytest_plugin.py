"""The pytest plugin, in runs of pytest of its own, on simulated devices."""
import json
import re
import subprocess
import sys

import pytest
from conftest import PACKAGE, SANITIZER, environment, validate

MIB = 1 << 20
LIMITS = """
import pytest
from vramscope import sim

@pytest.fixture
def gpu(vram_sim):
    return vram_sim("8GiB")

@pytest.mark.vram(max_peak="64MiB", max_total=64 << 20, max_growth=0)
def test_small(gpu):
    gpu.alloc("64MiB")

@pytest.mark.vram(max_peak="63MiB")
def test_peak(gpu, vram):
    with vram.scope("forward"), vram.scope("attention"):
        gpu.alloc("64MiB")
    with vram.scope("backward"):
        gpu.alloc("2MiB")

@pytest.mark.vram(max_peak="10MiB", max_total="20MiB")
def test_total(gpu):
    gpu.alloc("8MiB")

@pytest.mark.vram(max_growth="1MiB", max_peak="1GiB")
def test_growth(gpu):
    global kept
    kept = gpu.alloc("2MiB")

@pytest.mark.vram(max_peak="1MiB")
class TestNearest:
    @pytest.mark.vram(max_peak="4MiB")
    def test_of_the_function(self, gpu):
        gpu.alloc("2MiB")

    def test_of_the_class(self, gpu):
        gpu.alloc("2MiB")

@pytest.mark.vram(max_peak="1MiB")
def test_own_failure(gpu):
    gpu.alloc("2MiB")
    assert "the program's" == "own"

@pytest.mark.vram(max_peak="1MiB")
@pytest.mark.xfail
def test_expected(gpu):
    gpu.alloc("2MiB")

@pytest.mark.vram(max_peak="1MiB")
def test_without_device():
    pass

def test_unmarked():
    pass
"""


def run(folder, text, *options, ini="", **variables):
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n" + ini)
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "vramscope.pytest_plugin", "-p", "no:cacheprovider",
                           "-p", "no:hypothesispytest", *options], cwd=folder, capture_output=True, text=True, timeout=300,
                          env=environment(PYTHONPATH=PACKAGE, COLUMNS="120", PYTEST_ADDOPTS="", **variables))
    assert not SANITIZER.search(done.stderr.encode()), done.stderr
    return done


def outcomes(done):
    return dict(re.findall(r"test_it\.py::(\S+) (PASSED|FAILED|XFAIL|ERROR)", done.stdout))


@pytest.fixture(scope="module")
def limits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("limits")
    done = run(folder, LIMITS, "-v", "--vram", "--vram-json=vram.json")
    return done, json.loads((folder / "vram.json").read_text())


def test_limits_fail_tests(limits):
    done, _ = limits
    assert outcomes(done) == {"test_small": "PASSED", "test_peak": "FAILED", "test_total": "PASSED", "test_growth": "FAILED",
                              "TestNearest::test_of_the_function": "PASSED", "TestNearest::test_of_the_class": "FAILED",
                              "test_own_failure": "FAILED", "test_expected": "XFAIL", "test_without_device": "PASSED",
                              "test_unmarked": "PASSED"}
    assert done.returncode == 1 and "warning" not in done.stdout


def section(done, test):
    start = done.stdout.index("_ %s _" % test)
    return re.split(r"\n(?:____|====)", done.stdout[start:])[0]


def test_a_failure_says_the_limit_and_where_the_peak_is(limits):
    said = section(limits[0], "test_peak")
    assert "vram: peak is 64.00 MiB, more than 63.00 MiB" in said and "- vramscope -" in said
    assert "max_peak    failed: 64.00 MiB, exact (limit 63.00 MiB)" in said and "start       0 B" in said
    scopes = re.findall(r"scope (.*): peak (.*) above its start of (.*)", said)
    assert scopes == [("forward", "64.00 MiB", "0 B"), ("forward > attention", "64.00 MiB", "0 B"),
                      ("backward", "2.00 MiB", "0 B")]
    assert "growth is 2.00 MiB, more than 1.00 MiB" in section(limits[0], "test_growth")


def test_the_tests_own_failure_stands(limits):
    said = section(limits[0], "test_own_failure")
    assert "the program's" in said and "AssertionError" in said and "vram: peak" not in said
    assert "max_peak    failed: 2.00 MiB" in said


def test_the_largest_peaks_are_reported(limits):
    report = limits[0].stdout.split("largest peaks of device memory")[1]
    rows = [line.split() for line in report.splitlines()[2:] if re.match(r" +[\d.]+ M?i?B", line)]
    assert [row[-1].split("::")[-1] for row in rows][:2] == ["test_small", "test_peak"] and len(rows) == 8  # the others had no device
    assert rows[0][:6] == ["64.00", "MiB", "64.00", "MiB", "0", "B"]
    assert limits[0].stdout.splitlines()[-2] == "vram: 1 limit not checked"


def test_the_file_has_what_was_measured(limits):
    document = limits[1]
    validate(document)
    assert document["schema"] == "vramscope.pytest/1" and len(document["tests"]) == 10
    assert document["limits"] == {"passed": 7, "failed": 5, "not_decided": 0, "not_checked": 1}
    growth = next(row for row in document["tests"] if row["test"].endswith("test_growth"))
    assert (growth["start_bytes"], growth["delta_bytes"], growth["state"], growth["device"]) == (0, 2 * MIB, "exact", 0)
    assert growth["limits"] == [
        {"name": "max_growth", "limit_bytes": MIB, "bytes": 2 * MIB, "verdict": "failed"},
        {"name": "max_peak", "limit_bytes": 1 << 30, "bytes": 2 * MIB, "verdict": "passed"}]
    unmarked = document["tests"][-1]
    assert unmarked["state"] == "unknown" and unmarked["peak_bytes"] is None


REFUSED = (("max_peek=1", "takes max_peak, max_total, max_growth and device, not max_peek"),
           ("'1MiB'", "not positional arguments"), ("max_peak='much'", "max_peak: 'much': a size is"),
           ("max_total=[]", "max_total: []: "), ("max_peak=-1", "max_peak: -1: it is no number of bytes"),
           ("max_growth=1.5", "max_growth: 1.5: it is no"), ("max_peak=float('inf')", "max_peak: inf"),
           ("device='gpu', max_peak=1", "device: there is no device gpu"), ("device=[], max_peak=1", "device: "))


@pytest.mark.parametrize("processes", ((), pytest.param(("-n2",), marks=pytest.mark.long)))
def test_what_is_asked_of_a_marker_must_be_known(tmp_path, processes):
    if processes:
        pytest.importorskip("xdist")
    text = "import pytest\ndef test_fine(): pass\n"
    for number, (words, _) in enumerate(REFUSED):
        text += "@pytest.mark.vram(%s)\ndef test_%d(vram): print('it ran')\n" % (words, number)
    done = run(tmp_path, text, "-rA", *processes)
    assert done.returncode == 1 and "1 passed, %d errors" % len(REFUSED) in done.stdout, done.stdout
    for number, (_, says) in enumerate(REFUSED):
        assert "at setup of test_%d" % number in done.stdout and says in done.stdout, says
    assert "Traceback" not in done.stdout + done.stderr and "it ran" not in done.stdout


LEAKS = """
import pytest
from vramscope import sim

gpu, kept = sim.Device("8GiB"), []

@pytest.fixture(autouse=True, scope="session")
def device():
    with gpu:
        yield

def test_first(): pass      # the device that is active before its setup is none

def test_kept():
    kept.append(gpu.alloc("2MiB"))

def test_cycle():
    class A: pass
    a = A()
    a.me, a.handle = a, gpu.alloc("2MiB")

@pytest.fixture
def batch():
    return gpu.alloc("2MiB")

def test_fixture(batch):
    assert batch.live

def test_little():
    kept.append(gpu.alloc("64KiB"))

def test_own_failure():
    handle = gpu.alloc("2MiB")
    assert False
"""


def test_what_tests_leave_behind_fails_them(tmp_path):
    done = run(tmp_path, LEAKS, "-v", "--vram-leaks=1MiB")
    assert re.findall("ERROR at teardown of (.*?) ", done.stdout) == ["test_kept"]
    assert "vram: the test leaves 2.00 MiB of device memory behind, more than 1.00 MiB" in done.stdout
    assert {test for test, outcome in outcomes(done).items() if outcome == "FAILED"} == {"test_own_failure"}


def test_ini_keys_are_as_options(tmp_path):
    done = run(tmp_path, LEAKS, ini="vram_leaks = 1KiB\nvram = true\nvram_json = of.json\nvram_required = true\n")
    assert re.findall("ERROR at teardown of (.*?) ", done.stdout) == ["test_kept", "test_little"]
    assert "largest peaks" in done.stdout and len(json.loads((tmp_path / "of.json").read_text())["tests"]) == 6


REQUIRED = """
import pytest

@pytest.mark.vram(max_peak="1GiB")
def test_marked(): pass

def test_asks(vram):
    assert vram.start_bytes is vram.peak_bytes is vram.growth_bytes is None
    assert vram.backend.name == "none"

def test_plain(): pass

@pytest.mark.vram(max_peak="1GiB")
def test_simulated(vram_sim):
    vram_sim().alloc("1MiB")
"""


def test_without_a_device_limits_are_not_checked_or_fail(tmp_path):
    done = run(tmp_path, REQUIRED, "-v")
    assert done.returncode == 0 and done.stdout.splitlines()[-2] == "vram: 1 limit not checked"
    done = run(tmp_path, REQUIRED, "-v", "--vram-required")
    assert outcomes(done) == {"test_marked": "FAILED", "test_asks": "FAILED", "test_plain": "PASSED", "test_simulated": "PASSED"}
    assert "there is no device, and --vram-required asks for one" in done.stdout


LOWER = """
import pytest
from vramscope import Profiler

@pytest.fixture
def spiked(vram_sim):
    gpu = vram_sim("8GiB")
    keeper = Profiler(preserve_torch_peak=True)     # forbids resets: what follows are lower bounds
    gpu.alloc("100MiB")
    yield gpu
    keeper.close()

@pytest.mark.vram(max_peak="50MiB")
def test_may_be_more(spiked):
    spiked.alloc("10MiB")

@pytest.mark.vram(max_peak="150MiB")
def test_can_not_be_more(spiked):
    spiked.alloc("10MiB")

@pytest.mark.vram(max_peak="5MiB", max_total="1GiB")
def test_is_more(spiked):
    # Held while it is read.
    handle = spiked.alloc("10MiB")
    Profiler().checkpoint("now")
"""


def test_a_lower_bound_passes_no_limit_silently(tmp_path):
    done = run(tmp_path, LOWER, "-v", "--vram-json=it.json")
    limits = {row["test"].split("::")[1]: [limit["verdict"] for limit in row["limits"]]
              for row in json.loads((tmp_path / "it.json").read_text())["tests"]}
    assert limits == {"test_may_be_more": ["not decided"], "test_can_not_be_more": ["passed"],
                      "test_is_more": ["failed", "passed"]}
    assert "vram: 1 limit not decided" in done.stdout and outcomes(done)["test_is_more"] == "FAILED"
    assert "max_peak    failed: >= 10.00 MiB, sampled (limit 5.00 MiB)" in done.stdout


FIXTURE = """
import vramscope
from vramscope import Profiler

def test_figures(vram_sim, vram):
    gpu = vram_sim("8GiB", count=2)
    kept = gpu.alloc("3MiB")
    gpu.alloc("5MiB")
    assert (vram.start_bytes, vram.peak_bytes, vram.growth_bytes) == (0, 8 << 20, 3 << 20)
    assert vram.device == 0 and vram.backend.name == "sim"
    with vram.scope("load") as scope:
        gpu.alloc("1MiB")
    assert scope.result.path == ("load",) and scope.result.peak_delta_bytes == 1 << 20

def test_paths_are_those_of_the_program(vram_sim, vram):
    vram_sim()
    with Profiler() as profiler, profiler.scope("outer"), profiler.scope("inner") as inner:
        pass
    assert inner.result.path == ("outer", "inner")

def test_by_name(request, vram_sim):
    vram_sim().alloc("1MiB")
    assert request.getfixturevalue("vram").start_bytes == 0
"""


def test_the_fixture_has_the_figures_of_the_call(tmp_path):
    assert run(tmp_path, FIXTURE, "-v").returncode == 0


@pytest.mark.long
def test_processes_of_xdist_report_as_one(tmp_path):
    pytest.importorskip("xdist")
    done = run(tmp_path, LIMITS, "-n2", "--vram", "--vram-json=vram.json")
    document = json.loads((tmp_path / "vram.json").read_text())
    assert len(document["tests"]) == 10 and document["limits"]["failed"] == 5
    assert "largest peaks" in done.stdout and "vram: 1 limit not checked" in done.stdout


def test_a_run_that_asks_for_nothing_imports_nothing(tmp_path):
    text = ("import sys\ndef test_it():\n"
            "    assert {m for m in sys.modules if m.startswith('vramscope')} == {'vramscope', 'vramscope.pytest_plugin'}\n"
            "    assert not {'torch', 'numpy', 'pandas'} & set(sys.modules)\n")
    done = run(tmp_path, text, ini="markers =\n    other: x\n")
    assert done.returncode == 0, done.stdout
    assert "@pytest.mark.vram(max_peak=None" in run(tmp_path, text, "--markers").stdout
    for option in ("--vram", "--vram-leaks=SIZE", "--vram-required", "--vram-json=FILE"):
        assert option in run(tmp_path, text, "--help").stdout


def test_a_file_that_can_not_be_written_is_refused_at_the_start(tmp_path):
    for place, why in (("none/x.json", "No such file or directory"), (".", "Is a directory"),
                       ("test_it.py/x.json", "Not a directory")):
        done = run(tmp_path, "def test_it(): print('ran')\n", "--vram-json=" + str(tmp_path / place), "-s")
        assert done.returncode == 4 and why in done.stderr and "ran" not in done.stdout


def test_a_file_that_can_not_be_written_at_the_end_is_one_line(tmp_path):
    text = "import os\ndef test_it(): os.rmdir('out')\n"
    (tmp_path / "out").mkdir()
    done = run(tmp_path, text, "--vram-json=out/x.json")
    assert "vram: out/x.json was not written: No such file or directory" in done.stdout
    assert done.returncode == 1 and "1 passed" in done.stdout and "Traceback" not in done.stdout + done.stderr
    assert "INTERNALERROR" not in done.stdout


def test_options_that_make_no_sense_are_refused(tmp_path):
    done = run(tmp_path, "def test_it(): pass\n", "--vram-leaks=much")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR and "--vram-leaks: 'much': a size is" in done.stderr
