"""`vramscope run` of programs that import torch: the strict stand-in, in the forms of five releases."""
import json

import pytest
from conftest import PACKAGE, ROOT
from run_programs import python, script

FORMS = ("1.13", "2.1", "2.5", "2.9", "2.15")
RECORDED = FORMS[1:]
# What the program imports as torch: a file, so that it is found as torch is.
TORCH = """
import os, sys
from stand_in import Counters, tensors, torch_forms
cuda = torch_forms.Cuda(os.environ["FORM"], [Counters(total=4 << 20)], os.environ.get("DRIVER", "1") == "1")
made = cuda.modules()
made.update(tensors.add_to(made["torch"], cuda))
for name, value in list(vars(sys.modules["torch"]).items()):
    if name in ("__spec__", "__loader__"):
        setattr(made["torch"], name, value)
EXTRA
sys.modules.update(made)
"""
TELLS = """
import json, torch
USES
stand_in = torch.cuda.stand_in
print(json.dumps({"ready": stand_in.ready, "settings": [bool(s["enabled"]) for s in stand_in.settings],
                  "entries": [s.get("max_entries") for s in stand_in.settings], "observers": len(stand_in.observers),
                  "queued": len(stand_in.queued), "spec": torch.__spec__.name,
                  "loader": "exec_module" in vars(torch.__loader__), "finders": len(__import__("sys").meta_path)}))
"""


def ran(tmp_path, form, uses, *options, extra="", under=True, **env):
    """(what the program saw, exit status, stderr)"""
    script(tmp_path, TORCH.replace("EXTRA", extra), "torch.py")
    path = script(tmp_path, TELLS.replace("USES", uses))
    env = {"FORM": form, "PYTHONPATH": f"{PACKAGE}:{ROOT / 'tests/python'}", **env}
    status, out, err = python(path, cwd=tmp_path, under=["-o", "out", *options] if under else None, env=env)
    return json.loads(out) if out else None, status, err


@pytest.mark.parametrize("form", FORMS)
def test_a_program_that_never_uses_its_device_is_left_alone(tmp_path, form):
    seen, status, err = ran(tmp_path, form, "")
    assert (status, err) == (0, "") and not (tmp_path / "out").exists()
    assert (seen["ready"], seen["settings"], seen["observers"]) == (False, [], 0)
    plain = ran(tmp_path, form, "", under=False)[0]
    assert {**seen, "queued": 0} == {**plain, "queued": 0}, "spec, loader and finders are as without us"
    assert seen["queued"] == plain["queued"] + (form != "1.13")


@pytest.mark.parametrize("uses", ("torch.cuda.init()", "kept = torch.randn(4, device='cuda')",
                                  "torch.cuda._lazy_call(lambda: None)\ntorch.cuda.init()\ntorch.cuda.init()",
                                  "torch.cuda._lazy_call(lambda: torch.cuda._lazy_call(lambda: None))\ntorch.cuda.init()"))
@pytest.mark.parametrize("form", RECORDED)
def test_the_recorder_is_begun_once_and_the_observer_attached_once(tmp_path, form, uses):
    seen, status, err = ran(tmp_path, form, uses, "--history", "77")
    assert (status, err, seen["ready"], seen["settings"], seen["entries"], seen["observers"]) == (
        0, "", True, [True], [77], 1)


@pytest.mark.parametrize("form", RECORDED)
def test_the_programs_own_recorder_stays_in_charge(tmp_path, form):
    before = "torch.cuda._lazy_call(lambda: torch.cuda.memory._record_memory_history(max_entries=5))\ntorch.cuda.init()"
    seen, status, err = ran(tmp_path, form, before, extra="torch = made['torch']\n" + before.split("\n")[0])
    assert (status, err) == (0, "") and set(seen["entries"]) == {5} and seen["observers"] == 1


@pytest.mark.parametrize("form", RECORDED)
def test_a_recorder_that_raises_is_not_the_programs_failure(tmp_path, form):
    extra = "def broken(*args, max_entries=0, **more): 1 / 0\nmade['torch.cuda.memory']._record_memory_history = broken"
    seen, status, err = ran(tmp_path, form, "torch.cuda.init()", extra=extra)
    assert (status, err, seen["ready"]) == (0, "", True)
    # A queued call of the program itself that raises is its own failure, as without us.
    uses = "torch.cuda._lazy_call(lambda: 1 / 0)\ntorch.cuda.init()"
    assert ran(tmp_path, form, uses)[1:] == ran(tmp_path, form, uses, under=False)[1:]


@pytest.mark.parametrize("form", FORMS)
def test_without_a_driver_nothing_private_is_called(tmp_path, form):
    """Each such call raises, which the end would say."""
    uses = "try:\n    torch.cuda.init()\nexcept RuntimeError as error:\n    print('{}', end='') if 'driver' not in str(error) else None"
    seen, status, err = ran(tmp_path, form, uses, "--report", DRIVER="0")
    assert status == 0 and (seen["ready"], seen["settings"], seen["observers"]) == (False, [], 0)
    assert err.startswith("vramscope: nothing was recorded: ") and err.count("\n") == 1


@pytest.mark.parametrize("form", RECORDED)
def test_a_program_that_dies_of_memory_leaves_a_snapshot_and_says_so(tmp_path, form):
    uses = "weights = torch.randn(1 << 18, device='cuda')\nmore = torch.randn(1 << 20, device='cuda')"
    _, status, err = ran(tmp_path, form, uses)
    plain = ran(tmp_path, form, uses, under=False)
    assert status == plain[1] == 1 and err.startswith(plain[2])
    assert err[len(plain[2]):].startswith("vramscope: memory ran out on cuda:0\n")
    snapshot, = (tmp_path / "out").glob("*.1.pickle")
    oom = json.loads(snapshot.with_suffix(".oom.json").read_text())
    assert (oom["asked_bytes"], oom["total_bytes"], oom["allocated_bytes"]) == (4 << 20, 4 << 20, 1 << 20)


def test_an_older_torch_has_its_text_and_the_reason(tmp_path):
    _, status, err = ran(tmp_path, "1.13", "torch.randn(1 << 21, device='cuda')")
    assert status == 1 and "older than 2.1" in err and "Tried to allocate" in err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
    assert ran(tmp_path, "1.13", "torch.cuda.init()")[2] == ""


@pytest.mark.parametrize("name", ("cudaMallocAsync", "pluggable"))
def test_an_allocator_without_a_history_has_its_text_and_the_reason(tmp_path, name):
    extra = f"made['torch._C']._cuda_getAllocatorBackend = lambda: {name!r}"
    seen, _, err = ran(tmp_path, "2.9", "torch.cuda.init()", extra=extra)
    assert err == "" and seen["settings"] == [] and seen["observers"] == 0
    _, status, err = ran(tmp_path, "2.9", "torch.randn(1 << 21, device='cuda')", extra=extra)
    assert status == 1 and err.count(f"the allocator {name} keeps no history") == 1 and "Tried to allocate" in err


@pytest.mark.parametrize("lacks, left", (
    ("del made['torch.cuda']._lazy_call", 1), ("del made['torch._C']._cuda_isHistoryEnabled", 1),
    ("del made['torch._C']._cuda_attach_out_of_memory_observer", 0), ("del made['torch.cuda.memory']._snapshot", 0)))
def test_a_private_function_that_is_gone(tmp_path, lacks, left):
    seen, status, err = ran(tmp_path, "2.15", "torch.cuda.init()", extra=lacks)
    assert (status, err, seen["ready"], seen["observers"]) == (0, "", True, left)


def test_a_torch_without_cuda_is_refused_with_the_reason(tmp_path):
    extra = "made['torch'].version.cuda = None"
    seen, status, err = ran(tmp_path, "2.15", "", "--report", extra=extra)
    assert (status, err) == (0, "vramscope: nothing was recorded: torch was built without CUDA or HIP\n")
    assert seen["queued"] == 0


def test_a_loader_that_can_not_be_changed(tmp_path):
    (tmp_path / "prog.py").write_text("""
import importlib.machinery, sys
class Loader:
    __slots__ = ()
    def create_module(self, spec): return None
    def exec_module(self, module): module.found = True
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, Loader()) if name == "torch" else None
sys.meta_path.insert(1, Finder)
import torch
print(torch.found)
""")
    assert python("prog.py", cwd=tmp_path, under=[]) == (0, "True\n", "")


def test_an_import_that_fails_and_is_tried_again(tmp_path):
    script(tmp_path, "import os\nif not os.path.exists('again'):\n    open('again', 'w').close()\n    1 / 0\nversion = None\n", "torch.py")
    path = script(tmp_path, "try:\n    import torch\nexcept ZeroDivisionError:\n    import torch\n"
                            "print(vars(torch.__loader__).keys(), torch.__spec__.name)\n")
    seen = python(path, cwd=tmp_path, under=[])
    (tmp_path / "again").unlink()
    assert seen == python(path, cwd=tmp_path, under=None) and seen[0] == 0


def test_several_wait_for_the_import(tmp_path):
    """run, two handles, and a finder that wraps the loader as the package does."""
    script(tmp_path, "version = None\nclass cuda: pass\nclass _C: pass\n", "torch.py")
    path = script(tmp_path, """
import sys, vramscope
before = len(sys.meta_path)
class Finder:
    def find_spec(self, name, path=None, target=None):
        after = sys.meta_path[sys.meta_path.index(self) + 1:]
        spec = next((s for s in (f.find_spec(name, path, target) for f in after) if s is not None), None)
        if name == "torch":
            real = spec.loader.exec_module
            def exec_module(module):
                real(module)
                del spec.loader.exec_module
            spec.loader.exec_module = exec_module
        return spec
first, second = vramscope.on_oom("dumps"), vramscope.on_oom("dumps")
vramscope.on_oom("dumps").cancel()
sys.meta_path.insert(0, Finder())
import torch
print(*vars(torch.__loader__), len(sys.meta_path) - before)
""")
    told = "on_oom: torch was built without CUDA or HIP\n"
    for under, finders in (([], 0), (None, 1)):
        assert python(path, cwd=tmp_path, under=under) == (0, f"name path {finders}\n", told * 2)


def test_rocm_is_as_cuda(tmp_path):
    extra = "made['torch'].version.cuda, made['torch'].version.hip = None, '6.2'"
    seen, status, err = ran(tmp_path, "2.15", "torch.cuda.init()", extra=extra)
    assert (status, err, seen["settings"], seen["observers"]) == (0, "", [True], 1)


@pytest.mark.parametrize("form", RECORDED)
def test_monitor_reads_torchs_counters(tmp_path, form):
    uses = "kept = torch.randn(1000, device='cuda')\nimport sampled\nsampled.wait(1, 4096)"
    seen, status, err = ran(tmp_path, form, uses, "--monitor", "--interval=50ms")
    assert (status, err, seen["settings"]) == (0, "", [True])
    records = [json.loads(line) for file in (tmp_path / "out").glob("*.jsonl") for line in file.read_text().splitlines()]
    assert max(record["allocator_allocated_bytes"] or 0 for record in records) == 4096
    assert {record["device_id"] for record in records} == {0} and records[-1]["event_type"] == "stop"


def test_a_fork_before_the_device_is_used(tmp_path):
    uses = ("import os\nif os.fork() == 0:\n    torch.cuda.init()\n    os._exit(0 if torch.cuda.stand_in.settings == [] else 1)\n"
            "assert os.wait()[1] == 0\ntorch.cuda.init()")
    seen, status, err = ran(tmp_path, "2.15", uses)
    assert (status, err, seen["settings"], seen["observers"]) == (0, "", [True], 1)


def test_the_recording_was_changed(tmp_path):
    uses = "torch.cuda.init()\ntorch.cuda.memory._record_memory_history(enabled=None)"
    _, status, err = ran(tmp_path, "2.15", uses, "--report")
    assert status == 0 and err.endswith("vramscope: recording was changed by the program\n")
