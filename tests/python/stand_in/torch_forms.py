"""torch.cuda without a GPU, in the forms of five releases: what a profiler calls of it.

As of the real one: unknown names and keywords raise, raw calls raise before initialisation and
without a driver, queued calls run during it, and what they raise becomes the program's own failure.
"""
import inspect
import pickle
import sys
import types

FORMS = ("1.13", "2.1", "2.5", "2.9", "2.15")
# Keywords of _record_memory_history, by the release that first had them.
RECORDER = (("2.1", dict(enabled="all", context="all", stacks="all", max_entries=sys.maxsize, device=None)),
            ("2.9", dict(clear_history=False, compile_context=False, global_record_annotations=False)),
            ("2.15", dict(skip_actions=None, record_pinned_host_memory=False, record_cuda=True)))
GROUPS = {"allocated_bytes": "allocated", "reserved_bytes": "reserved", "active_bytes": "active",
          "requested_bytes": "requested", "inactive_split_bytes": None, "allocation": "count",
          "active": "count", "segment": None, "inactive_split": None}


def recorder_signature(form):
    defaults = {"enabled": inspect.Parameter.empty, "device": None}
    for number, (since, more) in enumerate(RECORDER):
        if FORMS.index(since) <= FORMS.index(form):
            defaults = {**defaults, **more} if number else more
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
                              for name, value in defaults.items()])


def nested(form, curves):
    """What _cuda_memoryStats returns: groups of pools of leaves, and numbers beside them."""
    def leaves(name):
        return dict(zip(("current", "peak", "allocated", "freed"), curves[name] if name else [0] * 4))
    stats = {group: {"all": leaves(of), "small_pool": leaves(None), "large_pool": leaves(of)}
             for group, of in GROUPS.items() if (form, group) != ("1.13", "requested_bytes")}
    return {**stats, "oversize_allocations": leaves(None), "oversize_segments": leaves(None),
            "max_split_size": -1, "num_alloc_retries": 0, "num_ooms": 0}


def flat(stats, prefix=""):
    return {name: value for key, below in stats.items() for name, value in
            (flat(below, prefix + key + ".") if isinstance(below, dict) else {prefix + key: below}).items()}


class Cuda:
    """The state behind the modules: whether it is `ready`, the `settings` of each call of the
    recorder, the `observers` of failures.  `devices` are like counters.Counters."""

    def __init__(self, form="2.15", devices=(), driver=True):
        self.form, self.devices, self.available = form, devices, driver and len(devices) > 0
        self.driver, self.ready, self.begun = driver, False, False
        self.queued, self.settings, self.observers = [], [], []
        self.deferred = type("DeferredCudaCallError", (Exception,), {})
        self.out_of_memory = type("OutOfMemoryError", (RuntimeError,), {})
        self.signature = recorder_signature(form)

    def lazy_call(self, callable, *, seed=False, seed_all=False):
        callable() if self.ready or self.begun else self.queued.append((callable, []))

    def init(self):
        if self.ready or self.begun:
            return
        self.driven()
        self.begun = True
        try:
            for call, _ in self.queued:
                call()
        except Exception as error:
            raise self.deferred("CUDA call failed lazily at initialization: %s" % error) from error
        finally:
            self.begun = False
        self.ready = True

    def driven(self, value=None):
        if not self.available:
            raise RuntimeError("Found no NVIDIA driver on your system.")
        return value

    def device(self, which):
        named = which.rsplit(":", 1)[-1] if isinstance(which, str) else getattr(which, "index", which)
        number = 0 if named in (None, "cuda") else int(named)
        if not self.ready or not 0 <= number < len(self.devices):
            raise RuntimeError("Invalid device argument ")
        return self.devices[number]

    def stats(self, device=None):
        return flat(nested(self.form, self.device(device).curves())) if self.ready else {}

    def record(self, *args, **kwargs):
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self.driven(self.settings).append(dict(bound.arguments))

    def snapshot(self, device=None):
        return {"segments": [], "device_traces": [[] for _ in self.devices]}

    def dump(self, filename="dump_snapshot.pickle"):
        with open(filename, "wb") as file:
            pickle.dump(self.snapshot(), file)

    def allocate(self, number, size):
        """A handle of the device; observers are told of a failure before it is raised."""
        self.init()
        try:
            return self.devices[number].alloc(size)
        except (MemoryError, RuntimeError) as error:
            for observer in self.observers:
                observer(number, size, self.devices[number].total, 0)
            raise self.out_of_memory(str(error)) from None

    def modules(self):
        """By name, for sys.modules; `torch.cuda.stand_in` is this object."""
        made = {name: types.ModuleType(name) for name in ("torch", "torch.cuda", "torch.cuda.memory", "torch._C")}
        torch, cuda, memory, raw = made.values()
        def recorder(*args, **kwargs):
            self.record(*args, **kwargs)
        recorder.__signature__ = self.signature
        for curve in ("allocated", "reserved"):
            for name, leaf in (("memory_", "current"), ("max_memory_", "peak")):
                setattr(memory, name + curve, lambda device=None, key="%s_bytes.all.%s" % (curve, leaf):
                        self.stats(device).get(key, 0))
        vars(memory).update(memory_stats=self.stats, empty_cache=lambda: None,
                            reset_peak_memory_stats=lambda device=None: self.device(device).reset_peak())
        vars(cuda).update({name: call for name, call in vars(memory).items() if name[0] != "_"}, memory=memory,
                          is_available=lambda: self.available, is_initialized=lambda: self.ready, stand_in=self,
                          init=self.init, _lazy_init=self.init, _lazy_call=self.lazy_call, _queued_calls=self.queued,
                          device_count=lambda: len(self.devices) * self.available, OutOfMemoryError=self.out_of_memory,
                          current_device=lambda: self.init() or 0, synchronize=lambda device=None: self.init(),
                          DeferredCudaCallError=self.deferred,
                          get_device_name=lambda device=None: self.driven("Stand-in"))
        vars(memory).update(_record_memory_history=recorder, _snapshot=self.snapshot, _dump_snapshot=self.dump)
        raw._cuda_memoryStats = lambda number: nested(self.form, self.device(number).curves())
        raw._cuda_resetPeakMemoryStats = lambda number: self.device(number).reset_peak()
        if self.form != "1.13":
            raw._cuda_isHistoryEnabled = lambda: bool(self.driven(self.settings)) and bool(self.settings[-1]["enabled"])
            raw._cuda_attach_out_of_memory_observer = lambda observer: self.driven(self.observers).append(observer)
        vars(torch).update(__version__=self.form + ".0", cuda=cuda, _C=raw,
                           version=types.SimpleNamespace(cuda="13.2", hip=None))
        if self.form not in ("1.13", "2.1"):
            torch.OutOfMemoryError = self.out_of_memory
        return made
