"""record(): a recording of what a block of a program does with device memory.

What records is torch's own recorder, or the history of a simulated device: one of them is a source,
which has refused, when_ready, enabled, begin, stop, snapshot and observe.
"""
import functools
import os
import sys
import time

__all__ = ["Recorder", "record", "source", "write_snapshot", "write_whole"]

NAMES_SECONDS = 2.0
_begun = []  # Recorders of this process that are open and began to record, the outermost first


class SimSource:
    """A simulated device as a source."""

    def __init__(self, device):
        self.device = device
        self.begin = lambda max_entries, context, stacks: device.history_start(
            max_entries, context=context, stacks=stacks)
        self.stop, self.snapshot = device.history_stop, device.history_snapshot
        self.enabled = device.history_enabled

    def refused(self):
        return None

    def when_ready(self, call):
        call()
        return True

    def observe(self, observer):
        self.device.on_oom(observer)
        return True


def source():
    """(the source that is there, None) or (None, why there is none)."""
    from vramscope import backends
    wanted = os.environ.get("VRAMSCOPE_BACKEND", "auto")
    device = backends.active() if wanted in ("auto", "sim") else None
    if device is not None:
        return SimSource(device), None
    torch = sys.modules.get("torch") if wanted in ("auto", "torch") else None
    if torch is None:
        return None, "torch is not imported and no simulated device is active"
    from vramscope import _torch
    made = _torch.Recorder(torch)
    refused = made.refused()
    return (made, None) if refused is None else (None, refused)


def log(text):
    """One line to the logger `vramscope`."""
    import logging
    logging.getLogger("vramscope").warning(text)


def write_whole(path, write):
    """write(file) fills a file that appears at the path only when it is whole; returns the path."""
    folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
    part = os.path.join(folder, f".{name}.{os.getpid()}.part")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            write(file)
        os.replace(part, path)
    except BaseException:
        try:
            os.unlink(part)
        except OSError:
            pass  # it went with its folder
        raise
    return path


def write_snapshot(from_source, path, *, compression=None, seconds=None):
    """Writes a snapshot with names; returns (path, Names or None where they were not to be had).

    The collector is paused: a snapshot is millions of objects, none of which is garbage.
    """
    import gc
    import pickle
    from vramscope import named
    found = None
    try:
        found = named.find(seconds=seconds)
    except Exception as error:
        log(f"names of tensors were not found: {type(error).__name__}: {error}")
    paused = gc.isenabled()
    gc.disable()
    try:
        snapshot = from_source.snapshot()
        if found is not None:
            snapshot["vramscope"] = found.to_dict()

        def write(file):
            if compression == "gzip":
                import gzip
                with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
                    pickle.dump(snapshot, packed, 4)
            else:
                pickle.dump(snapshot, file, 4)
        return write_whole(path, write), found
    finally:
        if paused:
            gc.enable()


def free_path(path):
    """The path, or where it is taken the same with _1, _2, ... before its endings."""
    folder, name = os.path.split(path)
    stem, dot, ending = name.partition(".")
    number, free = 0, path
    while os.path.lexists(free):
        number += 1
        free = os.path.join(folder, f"{stem}_{number}{dot}{ending}")
    return free


def default_path(compression=None):
    """<host>_<time>[_rank<r>].pickle in the working folder."""
    import socket
    from vramscope import ranks
    try:
        rank = ranks.identity()["rank"]
    except ValueError:
        rank = None
    name = f"{socket.gethostname()}_{time.strftime('%Y%m%d-%H%M%S')}"
    name += "" if rank is None else f"_rank{rank}"
    return free_path(name + ".pickle" + (".gz" if compression == "gzip" else ""))


class Recorder:
    """Made by record(): a context manager and a decorator.

    refused: why nothing is recorded, "already on" where somebody else records, or None.
    """

    def __init__(self, path, max_entries, context, stacks, compression, strict):
        self._path, self._options = path, (max_entries, context, stacks)
        self._compression, self._strict = compression, strict
        self._source, self._began, self._inner, self._pid = None, False, False, None
        self.refused, self.path = None, None

    def __enter__(self):
        self._pid, self.refused, self.path = os.getpid(), None, None
        self._source, why = source()
        if self._source is None:
            self._refuse(why)
        elif any(other._source_key() == self._source_key() for other in _begun):
            self._inner = True  # the outer one stops
        else:
            self._start()
        return self

    def _source_key(self):
        return getattr(self._source, "device", None) or type(self._source)

    def _start(self):
        _begun.append(self)
        import atexit
        atexit.register(self._end)
        if not self._source.when_ready(self._begin):
            self._refuse("this torch tells nobody when CUDA is initialised")

    def _begin(self):
        """Runs inside the program's initialisation of CUDA, so that nothing may escape."""
        try:
            if self not in _begun or os.getpid() != self._pid:
                return
            if self._source.enabled():
                self.refused = "already on"
                return
            self._source.begin(*self._options)
            self._began = True
        except BaseException as error:
            self.refused = f"{type(error).__name__}: {error}"

    def _refuse(self, why):
        self.refused = why
        if self._strict:
            raise RuntimeError(f"nothing can be recorded: {why}")
        log(f"nothing is recorded: {why}")

    def __exit__(self, kind, error, trace):
        try:
            if self._source is not None and (self._began or self._inner or
                                             self.refused == "already on"):
                self.dump()
        except BaseException as failure:
            if kind is None and self._strict:
                raise
            log(f"the recording was not written: {failure}")
        finally:
            self._end()

    def _end(self):
        """Stops, if this one began; also at the end of the interpreter."""
        if self in _begun:
            _begun.remove(self)
            import atexit
            atexit.unregister(self._end)
        if self._began and os.getpid() == self._pid:
            self._began = False
            self._source.stop()

    def __call__(self, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            with Recorder(self._path, *self._options, self._compression, self._strict):
                return function(*args, **kwargs)
        return call

    def dump(self, path=None):
        """Writes what is recorded by now, and names; returns the path."""
        if self._source is None:
            raise RuntimeError(f"nothing is recorded: {self.refused}")
        if path is None:
            path = self._path if self._path is not None else default_path(self._compression)
        self.path = write_snapshot(self._source, path, compression=self._compression)[0]
        return self.path

    @property
    def recording(self):
        """The last dump as a Recording, or None."""
        if self.path is None:
            return None
        from vramscope import _core
        return _core.load(self.path)


def record(path=None, *, max_entries=100_000, context="all", stacks="python", compression=None,
           strict=False):
    """Records memory of all devices while a block or a function runs, and writes a snapshot.

    path: None makes a name of host, time and rank. max_entries: the newest events of each device
    are kept. context: "all", "alloc" or "state": which events have stacks, as torch's recorder
    takes it. stacks: "python" or "all", which is slow. compression: None or "gzip". Where nothing
    can be recorded the block runs, and `refused` says why; strict=True raises RuntimeError instead.
    A recording that somebody else has begun goes on as he began it.

    >>> import tempfile, vramscope
    >>> from vramscope import sim
    >>> with tempfile.TemporaryDirectory() as folder, sim.Device("1GiB", history=0) as device:
    ...     with vramscope.record(folder + "/run.pickle") as recorder:
    ...         kept = device.alloc("20MiB")
    ...     len(recorder.recording["events.size"])
    2
    """
    if compression not in (None, "gzip"):
        raise ValueError(f"compression is None or 'gzip', not {compression!r}")
    return Recorder(path, max_entries, context, stacks, compression, strict)
