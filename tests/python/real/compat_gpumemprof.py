"""Compat gpumemprof with the torch that is installed, on a machine without a device; prints JSON."""
import json

import torch
from vramscope import sim
from vramscope.compat import gpumemprof


def raised(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


def module():
    """A wrapped module among others of torch: parameters, hooks, state, training, copies of it."""
    with sim.Device():
        profiler = gpumemprof.GPUMemoryProfiler()
        inner = torch.nn.Linear(4, 2)
        wrapped = gpumemprof.ProfiledModule(inner, name="head", profiler=profiler)
        model, seen = torch.nn.Sequential(wrapped, torch.nn.ReLU()), []
        wrapped.register_forward_hook(lambda *given: seen.append(len(given)))
        model(torch.zeros(3, 4)).sum().backward()
        other = torch.nn.Sequential(gpumemprof.ProfiledModule(torch.nn.Linear(4, 2), profiler=profiler), torch.nn.ReLU())
        other.load_state_dict(model.state_dict())
        return {"is": [isinstance(wrapped, torch.nn.Module), isinstance(wrapped, gpumemprof.ProfiledModule)],
                "parameters": [name for name, _ in model.named_parameters()], "hooks": seen,
                "gradient": inner.weight.grad is not None, "in_features": wrapped.in_features,
                "eval": model.eval() is model and not inner.training, "names": [r.function_name for r in profiler.results],
                "tensors": profiler.results[0].tensors_created, "missing": raised(lambda: wrapped.nothing),
                "loaded": bool((other[0].weight == inner.weight).all())}


def command(*argv):
    """(exit status, the first lines) of the command of gpumemprof."""
    import contextlib
    import io

    from vramscope.compat.gpumemprof import cli
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        status = cli.main(list(argv))
    return [status, text.getvalue().splitlines()[4:8]]


def out_of_memory():
    """What torch's own class of failures is to the flight recorder, and what no device is to a collector."""
    found = gpumemprof.classify_oom_exception(torch.OutOfMemoryError("CUDA out of memory."))
    return [*found, gpumemprof.detect_torch_runtime_backend(), raised(gpumemprof.build_device_memory_collector),
            raised(lambda: gpumemprof.build_device_memory_collector(torch.device("cpu")))]


def main():
    forms = {"None": None, "cuda:0": "cuda:0", "0": 0, "cuda": "cuda", "cpu": "cpu", "torch cpu": torch.device("cpu"),
             "torch cuda:0": torch.device("cuda:0"), "1.5": 1.5}
    errors = {name: raised(lambda: gpumemprof.GPUMemoryProfiler(form)) for name, form in forms.items()}
    system = gpumemprof.get_system_info()
    with sim.Device(count=2):
        device = gpumemprof.GPUMemoryProfiler(torch.device("cuda:1")).device
        on_sim = [isinstance(device, torch.device), str(device), device.index]
    print(json.dumps({
        "errors": errors, "initialised": torch.cuda.is_initialized(), "info": gpumemprof.get_gpu_info(),
        "system": [system["torch_available"], system["cuda_available"], system["detected_backend"]],
        "decorated": raised(gpumemprof.profile_function(lambda: None)), "on_sim": on_sim, "module": module(), "command": command("info"),
        "out_of_memory": out_of_memory()}))


main()
