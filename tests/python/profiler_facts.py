"""What torch.profiler does with schedules, exports and names: prints JSON, of the real torch or of the stand-in."""
import json
import os
import tempfile


def of_schedule(profiler, work, steps):
    """(traces made, their events where the schedule has an end) after so many steps."""
    made = []
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], on_trace_ready=lambda prof: made.append(prof.step_num),
                          schedule=profiler.schedule(wait=1, warmup=2, active=5, repeat=1)) as prof:
        for _ in range(steps):
            work()
            prof.step()
    try:
        return [made, len(prof.key_averages()) > 0]
    except Exception as error:
        return [made, type(error).__name__]


def of_exports(profiler, work):
    """What a second export raises, and what a table takes as its order."""
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True) as prof:
        work()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            try:
                prof.export_chrome_trace(os.path.join(folder, "a.json"))
                found.append(None)
            except RuntimeError as error:
                found.append(str(error).splitlines()[0])
    averages = prof.key_averages(group_by_input_shape=True)
    for key in ("device_time_total", "cuda_time_total", "cpu_time_total", "self_device_memory_usage", "self_cpu_memory_usage", "nothing"):
        try:
            found.append(isinstance(averages.table(sort_by=key, row_limit=2, max_src_column_width=9), str))
        except Exception as error:
            found.append(type(error).__name__)
    return found + [hasattr(averages[0], name) for name in (
        "key", "device_time_total", "self_device_memory_usage", "cuda_time_total", "cpu_time_total")]


def of_failures(profiler):
    """Whether a program that fails makes a trace, by how many steps it had done."""
    found = []
    for steps in (0, 4):
        made = []
        try:
            with profiler.profile(activities=[profiler.ProfilerActivity.CPU], on_trace_ready=made.append,
                                  schedule=profiler.schedule(wait=1, warmup=2, active=5, repeat=1)) as prof:
                for _ in range(steps):
                    prof.step()
                raise ValueError("of the program")
        except ValueError:
            found.append(len(made))
    return found


def facts(profiler, work):
    return {"schedules": [of_schedule(profiler, work, steps) for steps in (0, 1, 3, 4, 7, 8, 10)],
            "exports": of_exports(profiler, work), "failures": of_failures(profiler)}


if __name__ == "__main__":
    import torch
    print(json.dumps(facts(torch.profiler, lambda: torch.ones(3) + 1)))
