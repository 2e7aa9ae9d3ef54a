"""`vramscope run` under the real torchrun, two ranks of which each has a simulated device."""
import json
import os
import re
import subprocess

import in_torch
import pytest

pytestmark = pytest.mark.torch
# Ranks meet, so that neither is ended by the launcher while it begins.
PROGRAM = """
import os
import sys
import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record
from vramscope import sim

@record
def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    device = sim.Device("1GiB")
    with device:
        weights = device.alloc("400MiB", tag="weights")
        total = torch.ones(4) * rank
        dist.all_reduce(total)
        os.write(1, b"sum %d\\n" % int(total.sum()))
        if rank == 1 and len(sys.argv) > 1:
            device.alloc("800MiB")
        assert not torch.cuda.is_initialized()
        if len(sys.argv) > 1:
            dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    main()
"""


def torchrun(tmp_path, *words, before=()):
    python = in_torch.interpreter()
    (tmp_path / "train.py").write_text(PROGRAM)
    env = {**in_torch.environment(), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([python, *before, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
                           *words], cwd=tmp_path, capture_output=True, text=True, env=env, timeout=in_torch.SECONDS)


def only_folder(tmp_path):
    folder, = (f for f in tmp_path.iterdir() if f.is_dir())
    return folder


def test_two_ranks_have_one_folder_and_one_report(tmp_path):
    done = torchrun(tmp_path, "-m", "vramscope", "run", "--report", "--wait=120s", "train.py")
    assert done.returncode == 0 and done.stdout == "sum 4\nsum 4\n", done.stderr[-3000:]
    folder = only_folder(tmp_path)
    assert sorted(re.sub(r"\.\d+", "", f.name) for f in folder.iterdir()) == [
        "rank0.end.pickle", "rank0.json", "rank1.end.pickle", "rank1.json", "report.json", "report.txt", "run.json"]
    report = (folder / "report.txt").read_text()
    assert report in done.stderr and done.stderr.count("skew") == 1 and "rank1" in report
    assert json.loads((folder / "run.json").read_text())["missing_ranks"] == []


def test_the_rank_that_dies_speaks_and_the_launcher_has_its_error(tmp_path):
    done = torchrun(tmp_path, "-m", "vramscope", "run", "train.py", "dies")
    assert done.returncode == 1 and done.stderr.count("vramscope: memory ran out on cuda:0 (rank 1)") == 1
    assert done.stderr.count("vramscope: memory ran out") == 1 and "weights" in done.stderr
    # @record has written the exception into TORCHELASTIC_ERROR_FILE, which the launcher prints.
    summary = done.stderr[done.stderr.rindex("FAILED"):]
    assert "rank      : 1" in summary and "OutOfMemoryError: CUDA out of memory" in summary
    assert [f.name.split(".")[0] for f in only_folder(tmp_path).glob("*.pickle")] == ["rank1"]


def test_a_launcher_that_is_run_itself_reports_on_its_ranks(tmp_path):
    done = torchrun(tmp_path, "train.py", before=["-m", "vramscope", "run", "-o", "out", "--children", "--report"])
    assert done.returncode == 0 and done.stdout == "sum 4\nsum 4\n", done.stderr[-3000:]
    assert sorted(f.name.split(".")[0] for f in (tmp_path / "out").glob("*.pickle")) == ["rank0", "rank1"]
    assert (tmp_path / "out" / "report.txt").read_text() in done.stderr
    assert not [name for name in os.listdir(tmp_path) if name.startswith("vramscope-")]


def test_a_training_on_the_cpu_is_as_without_us(tmp_path):
    (tmp_path / "cpu.py").write_text("""
import os, sys, torch
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.AdamW(model.parameters())
torch.manual_seed(0)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(4, 8)).square().sum().backward()
    optimizer.step()
loader = torch.utils.data.DataLoader(list(range(8)), batch_size=4, num_workers=1)
print([batch.tolist() for batch in loader], torch.cuda.is_initialized(), torch.__spec__.name, len(sys.meta_path))
print(type(torch.__loader__).__name__, vars(torch.__loader__), sorted(k for k in os.environ if "VRAM" in k))
raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
""")
    python, found = in_torch.interpreter(), []
    for before in ([], ["-m", "vramscope", "run", "--report"]):
        found.append(subprocess.run([python, "-B", *before, "cpu.py"], cwd=tmp_path, capture_output=True, text=True,
                                    env=in_torch.environment(), timeout=in_torch.SECONDS))
    plain, under = found
    assert under.returncode == plain.returncode == 1 and under.stdout == plain.stdout
    assert under.stderr.startswith(plain.stderr)
    ours = under.stderr[len(plain.stderr):].splitlines()
    assert ours[0].startswith("vramscope: memory ran out; there is no snapshot of it")
    assert ours[1].startswith("CUDA out of memory. Tried") and ours[2].startswith("vramscope: nothing was recorded: ")
    assert len(ours) == 3 and [f.name for f in tmp_path.iterdir() if f.is_dir()] == []
