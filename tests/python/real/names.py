"""names.py: prints what torch.cuda has and how its recorder is called, as JSON."""
import inspect
import json

import torch

recorder = inspect.signature(torch.cuda.memory._record_memory_history)
print(json.dumps({
    "version": torch.__version__,
    "recorder": [[p.name, repr(p.default)] for p in recorder.parameters.values()],
    "names": {module.__name__: sorted(vars(module)) for module in (torch.cuda, torch.cuda.memory, torch._C)},
}))
