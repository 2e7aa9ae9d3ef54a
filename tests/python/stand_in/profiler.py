"""torch.profiler of the stand-in: schedules as the real one's, and the operators that a test has scripted.

`torch.profiler.script` is what each profile finds: rows (name, microseconds on a device, bytes of a device).  What it
finds is named as its release does: `cuda_time_total`, later `device_time_total`.
"""
import gzip
import json
import os
import types

CPU, CUDA = "CPU", "CUDA"
KEYS = ("cpu_time_total", "self_cpu_memory_usage", "count", "time_total", "self_memory_usage")


class Events(list):
    """Averages, with a table that says how it was asked for."""

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55):
        key = sort_by.replace("device_", "").replace("cuda_", "")
        if key not in KEYS:
            raise AttributeError("there is no " + sort_by)
        shown = sorted(self, key=lambda event: -event.values[key])[:row_limit]
        return "\n".join(["| by %s, sources of %d columns |" % (key, max_src_column_width)] +
                         ["| %s |" % event.key for event in shown])


class Event:
    def __init__(self, prefix, key, us, size, shapes):
        self.key, self.input_shapes, self.count, self.cpu_time_total = key, shapes, 1, 7.0
        self.values = {"cpu_time_total": 7.0, "self_cpu_memory_usage": 0, "count": 1, "time_total": us, "self_memory_usage": size}
        setattr(self, prefix + "_time_total", us)
        setattr(self, "self_%s_memory_usage" % prefix, size)


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    return types.SimpleNamespace(first=wait + warmup, end=wait + warmup + active)


def add_to(torch, cuda_state):
    """Gives torch.profiler its profile(); cases of misuse raise."""
    module = torch.profiler
    prefix = "cuda" if cuda_state.form in ("1.13", "2.1") else "device"
    module.script, module.profiles = [], []

    class profile:
        active = []

        def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False,
                     profile_memory=False, with_stack=False, with_flops=False):
            assert set(activities or ()) <= {CPU, CUDA}
            self.activities, self.schedule, self.ready = list(activities), schedule, on_trace_ready
            self.shapes, self.memory, self.stacks = record_shapes, profile_memory, with_stack
            self.step_num, self.made, self.saved = 0, False, False
            module.profiles.append(self)

        def __enter__(self):
            self.active.append(self)
            return self

        def _trace(self):
            self.made = True
            if self.ready is not None:
                self.ready(self)

        def step(self):
            self.step_num += 1
            if self.schedule is not None and self.step_num == self.schedule.end:
                self._trace()

        def __exit__(self, *error):
            self.active.remove(self)
            records = self.schedule is None or self.schedule.first <= self.step_num < self.schedule.end
            if records and not self.made:
                self._trace()

        def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
            if self.schedule is not None and not self.step_num:
                raise AssertionError
            found = module.script if self.made else []
            return Events(Event(prefix, *row, [[64, 1000]] if group_by_input_shape and self.shapes else [])
                          for row in found)

        def export_chrome_trace(self, path):
            if self.saved:
                raise RuntimeError("Trace is already saved.")
            self.saved = True
            packed = str(path).endswith(".gz")
            with gzip.open(path, "wt") if packed else open(path, "w") as file:
                json.dump({"schemaVersion": 1, "traceEvents": list(self._events())}, file)

        def _events(self):
            """The operators one after the other, 7 us each, in one step."""
            found = module.script if self.made else []
            if found:
                yield {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 10, "dur": 7 * len(found)}
            for i, (name, _, _) in enumerate(found):
                yield {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10 + 7 * i, "dur": 7}

    def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
        def handler(prof):
            os.makedirs(dir_name, exist_ok=True)
            prof.export_chrome_trace(os.path.join(dir_name, "worker.%d.pt.trace.json" % len(module.profiles)))
        return handler
    vars(module).update(profile=profile, schedule=schedule, ProfilerActivity=types.SimpleNamespace(CPU=CPU, CUDA=CUDA),
                        supported_activities=lambda: {CPU, CUDA} if cuda_state.available else {CPU},
                        tensorboard_trace_handler=tensorboard_trace_handler)
