"""on_oom(): what happened when device memory ran out, told at once and kept in a folder.

An observer runs inside the failing request, before the exception is raised; it writes a snapshot
and returns.  The verdict is printed when the exception leaves the program.  The exception itself
is never touched.
"""
import os
import sys
import time

__all__ = ["Event", "Handle", "on_oom", "recognise"]

CAUSES_MOST = 16
EVENTS_MOST = 1000
VERDICT_SECONDS = 10.0
LARGEST_NAMES = 3
PHRASES = ("out of memory", "resource exhausted", "failed to allocate", "allocation failed")

failures = 0  # what our own hooks raised and nobody was to see
_handlers = []  # who is told of an event: objects with heard(event)
_events = []  # the newest EVENTS_MOST
_counted = 0
_observed = []  # sources that have the observer
_busy = False


def swallow(error):
    """Counts what a hook of ours raised; an interrupt is given back to the program afterwards."""
    global failures
    failures += 1
    if isinstance(error, KeyboardInterrupt):
        import _thread

        def interrupt():
            time.sleep(0.01)  # when the hook has returned: inside it this would replace the error
            _thread.interrupt_main()
        _thread.start_new_thread(interrupt, ())


def say(text):
    """Writes a text to stderr, by one write and whether or not that can be."""
    try:
        stream = sys.stderr
        if stream is None:
            return
        stream.flush()
        try:
            number = stream.fileno()
        except (AttributeError, OSError, ValueError):
            stream.write(text)
            return
        os.write(number, text.encode("utf-8", "backslashreplace"))
    except Exception as error:
        swallow(error)


def chain(error):
    """The exception and what it was raised from."""
    found = []
    while error is not None and len(found) < CAUSES_MOST:
        found.append(error)
        error = error.__cause__
    return found


def recognise(error):
    """The exception of a chain by which device memory ran out, or None."""
    for one in chain(error):
        if isinstance(one, MemoryError) or not isinstance(one, Exception):
            continue  # memory of the host
        names = {cls.__name__ for cls in type(one).__mro__}
        if "OutOfMemoryError" in names or any(n.endswith("ResourceExhaustedError") for n in names):
            return one
        try:
            text = str(one).lower()
        except Exception:
            continue
        if isinstance(one, RuntimeError) and any(phrase in text for phrase in PHRASES):
            return one
    return None


class Event:
    """A request that failed: what the observer was told, and the file that was written of it."""

    def __init__(self, from_source, device, asked, total, free):
        threading = sys.modules.get("threading")
        import _thread
        ident = _thread.get_ident()
        self.source, self.device = from_source, device
        self.asked, self.total, self.free = asked, total, free
        self.time = time.time()
        # None: a thread that Python did not begin, such as one of torch's backward pass
        self.thread = ident if threading is None or ident in threading._active else None
        self.site = call_site()
        self.path, self.names, self.told = None, None, False


def call_site():
    """(file, line) of the innermost frame outside this package and torch."""
    frame = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module not in ("vramscope", "torch"):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def observe(from_source):
    """Attaches the observer to a source, once: it can not be detached."""
    key = getattr(from_source, "device", None) or type(from_source)
    if any(one is key for one in _observed):
        return True
    attached = from_source.observe(lambda *what: _heard(from_source, *what))
    if attached:
        _observed.append(key)
    return attached


def _heard(from_source, device, asked, total, free):
    """The observer: returns normally, whatever happens."""
    global _busy, _counted
    pid = os.getpid()  # in a forked child those of the parent are silent
    handlers = [handler for handler in _handlers if handler.pid == pid]
    if not handlers or _busy:
        return
    _busy = True
    try:
        event = Event(from_source, device, asked, total, free)
        _counted += 1
        _events.append(event)
        del _events[:-EVENTS_MOST]
        for handler in handlers:
            try:
                handler.heard(event)
            except BaseException as error:
                swallow(error)
    except BaseException as error:
        swallow(error)
    finally:
        _busy = False


def event_of(error):
    """(the exception by which memory ran out, the newest Event that is its); each may be None."""
    import _thread
    found = recognise(error)
    if found is None:
        return None, None
    here = _thread.get_ident()
    of_device = "OutOfMemoryError" in {cls.__name__ for cls in type(found).__mro__}
    for event in reversed(_events if of_device else ()):
        if event.thread in (None, here):
            return found, None if event.told else event
    return found, None


def untold():
    """Events that the program caught."""
    return [event for event in _events if not event.told]


def verdict(path, message):
    """The text of `vramscope oom --message MESSAGE PATH`; None where that takes too long."""
    from vramscope import _core
    end = time.monotonic() + VERDICT_SECONDS

    class Late(Exception):
        pass

    def progress(done, total):
        if time.monotonic() > end:
            raise Late
    try:
        with _core.load(path, threads=1, progress=progress) as recording:
            colour, wide = terminal()
            text = recording.oom(message=message or None).text(colour=colour, width=wide)
            return text
    except Late:
        return None


def terminal():
    """(whether stderr shows colours, its width or None)."""
    try:
        number = sys.stderr.fileno()
        if not os.isatty(number):
            return False, 80
        return "NO_COLOR" not in os.environ, os.get_terminal_size(number).columns
    except (AttributeError, OSError, ValueError):
        return False, 80


def keep_verdict(event, text):
    """In the folder of a bundle; the manifest lists what was written at the failure itself."""
    folder, name = os.path.split(event.path)
    if name == "snapshot.pickle":
        from vramscope import recording
        try:
            recording.write_whole(os.path.join(folder, "verdict.txt"),
                                  lambda file: file.write(text.encode("utf-8", "backslashreplace")))
        except OSError as error:
            swallow(error)


def largest_names(event, text):
    """Lines of the largest tensors, where the verdict does not name them itself."""
    shown = event.names.tensors[:LARGEST_NAMES] if event.names is not None else []
    lines = [f"  {entry['bytes']:>14,} B  {entry['name']}\n" for entry in shown]
    if not lines or all(entry["name"] in text for entry in shown):
        return ""
    return "largest tensors with a name:\n" + "".join(lines)


def tell(error, rank=None):
    """Prints what happened, where memory ran out by this exception; whether it did."""
    found, event = event_of(error)
    if found is None:
        return False
    message = str(found)
    if event is None:
        say(f"vramscope: memory ran out; there is no snapshot of it\n{message}\n")
        return True
    event.told = True
    tell_event(event, message, rank)
    return True


def tell_event(event, message, rank=None):
    event.told = True
    who = "" if rank is None else f" (rank {rank})"
    text = f"vramscope: memory ran out on cuda:{event.device}{who}\n"
    if event.path is None or not os.path.exists(event.path):
        say(text + (f"{message}\n" if message else "") + figures(event))
        return
    more = f"vramscope: {event.path}   more: vramscope oom {event.path}\n"
    try:
        told = verdict(event.path, message)
    except Exception as failure:
        swallow(failure)
        told = f"vramscope: no verdict: {failure}\n"
    if told is not None:
        text += told if told.endswith("\n") else told + "\n"
        text += largest_names(event, told)
        keep_verdict(event, text)
    say(text + more)


def figures(event):
    """What is known without a snapshot."""
    rows = (("asked", event.asked), ("free", event.free), ("capacity", event.total))
    return "".join(f"{name:9} {'-' if value is None else format(value, ',')} B\n"
                   for name, value in rows)


class Hooks:
    """sys.excepthook and threading.excepthook, each with the one that was there called first."""

    def __init__(self, after, cut=None):
        self._after, self._cut = after, cut
        self._before, self._pid = None, os.getpid()

    def install(self):
        """Wraps the hook that is there now."""
        self.wrap_uncaught()
        self.install_threads()

    def wrap_uncaught(self):
        self._before = sys.excepthook
        sys.excepthook = self.uncaught

    def install_threads(self):
        import threading
        self._threads_before = threading.excepthook
        threading.excepthook = self.uncaught_in_thread

    def remove(self):
        if sys.excepthook == self.uncaught:
            sys.excepthook = self._before
        threading = sys.modules.get("threading")
        if threading is not None and threading.excepthook == self.uncaught_in_thread:
            threading.excepthook = self._threads_before

    def uncaught(self, kind, error, trace):
        try:
            if self._cut is not None:
                trace = self._cut(error, trace)
        except BaseException as failure:
            swallow(failure)
        try:
            self._before(kind, error, trace)
        finally:
            self._tell(error)

    def uncaught_in_thread(self, args):
        error = args.exc_value
        try:
            self._threads_before(args)
        finally:
            self._tell(error)

    def _tell(self, error):
        try:
            if os.getpid() == self._pid:
                self._after(error)
        except BaseException as failure:
            swallow(failure)


class Limits:
    """How many files there may be, and how large: the oldest of our own go first."""

    def __init__(self, max_dumps, max_bytes, min_seconds, remove):
        from vramscope import _core
        self.max_dumps, self.min_seconds = max_dumps, min_seconds
        self.max_bytes = _core.size(max_bytes) if isinstance(max_bytes, str) else int(max_bytes)
        self._remove, self._kept, self._last = remove, [], {}

    def allows(self, event):
        now, before = time.monotonic(), self._last.get(event.site)
        if self.max_dumps < 1 or (before is not None and now - before < self.min_seconds):
            return False
        self._last[event.site] = now
        return True

    def keep(self, path, size):
        """A file was written: older ones that are too many go, the newest stays."""
        self._kept.append((path, size))
        while len(self._kept) > 1 and (len(self._kept) > self.max_dumps or
                                       sum(size for _, size in self._kept) > self.max_bytes):
            self._remove(self._kept.pop(0)[0])

    @property
    def kept(self):
        return [path for path, _ in self._kept]


class Handle:
    """Made by on_oom(): `with`, or cancel(). `dumps`: the folders that were written and are kept."""

    def __init__(self, folder, max_entries, limits, verdict, snapshot):
        self._dir, self._entries, self._limits = folder, max_entries, limits
        self._verdict, self._snapshot = verdict, snapshot
        self._number, self._hooks, self.pid, self.refused = 0, None, os.getpid(), None

    @property
    def dumps(self):
        return self._limits.kept

    def start(self):
        from vramscope import backends
        _handlers.append(self)
        backends.watch(self._watch)
        if "torch" in sys.modules:
            self._torch_is_here()
        else:
            from vramscope import late
            late.when_imported("torch", self._torch_is_here)
        return self

    def _torch_is_here(self):
        """Queues the beginning, so that CUDA is not initialised by it."""
        try:
            from vramscope import _torch, recording
            there = _torch.Recorder(sys.modules["torch"])
            self.refused = there.refused()
            if self.refused is not None:
                recording.log(f"on_oom: {self.refused}")
            elif not there.when_ready(lambda: self._begin(there)):
                self.refused = "this torch tells nobody when CUDA is initialised"
        except BaseException as error:
            swallow(error)

    def _watch(self, device):
        from vramscope import recording
        if self in _handlers:
            self._begin(recording.SimSource(device))

    def _begin(self, there):
        try:
            if self not in _handlers or os.getpid() != self.pid:
                return
            if self._snapshot and not there.enabled():
                there.begin(self._entries, "all", "python")
            observe(there)
        except BaseException as error:
            swallow(error)

    def cancel(self):
        """Ends it: later failures are not told to it."""
        if self in _handlers:
            _handlers.remove(self)
        if self._hooks is not None:
            self._hooks.remove()

    def hook(self):
        """Verdicts are printed when an exception leaves the program."""
        self._hooks = Hooks(self._tell)
        self._hooks.install()
        return self

    def _tell(self, error):
        if self._verdict and self in _handlers:
            tell(error)

    def heard(self, event):
        if not self._snapshot or not self._limits.allows(event):
            return
        from vramscope import recording
        self._number += 1
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(event.time))
        kind = "sim" if isinstance(event.source, recording.SimSource) else "cuda"
        name = f"oom_dump_{stamp}_{self.pid}_{kind}_{self._number}"
        folder = os.path.join(os.fsdecode(self._dir), name)
        part = os.path.join(os.fsdecode(self._dir), f".{name}.part")
        try:
            os.makedirs(part, 0o700)
            path, event.names = recording.write_snapshot(
                event.source, os.path.join(part, "snapshot.pickle"),
                seconds=recording.NAMES_SECONDS)
            write_facts(part, event, kind)
            os.rename(part, folder)
        except OSError as error:
            remove_folder(part)
            say(f"vramscope: {folder}: {error.strerror}\n")
            return
        except BaseException:
            remove_folder(part)
            raise
        event.path = os.path.join(folder, "snapshot.pickle")
        self._limits.keep(folder, sum(entry.stat().st_size for entry in os.scandir(folder)))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            if error is not None and self._verdict and self in _handlers:
                tell(error)
        except BaseException as failure:
            swallow(failure)
        self.cancel()


def remove_folder(path):
    import shutil
    shutil.rmtree(path, ignore_errors=True)


def write_facts(folder, event, kind):
    """What stands beside the snapshot: metadata, environment, events, and the list of all."""
    import json
    import platform
    from vramscope import _core, ranks, recording
    try:
        identity = ranks.identity()
    except ValueError:
        identity = dict.fromkeys(ranks.FIELDS)
    torch = sys.modules.get("torch")
    documents = {
        "metadata.json": {"schema_version": 1, "backend": kind, "device": event.device,
                          "asked_bytes": event.asked, "total_bytes": event.total,
                          "free_bytes": event.free, "time": event.time, "site": event.site,
                          "pid": os.getpid(), **identity},
        "environment.json": {"python": platform.python_version(), "vramscope": _core.version(),
                             "torch": getattr(torch, "__version__", None),
                             "allocator": os.environ.get("PYTORCH_CUDA_ALLOC_CONF")},
        "events.json": [{"device": e.device, "asked_bytes": e.asked, "free_bytes": e.free,
                         "time": e.time, "site": e.site} for e in _events],
    }
    files = ["snapshot.pickle", *documents]
    documents["manifest.json"] = {"schema_version": 1, "files": sorted([*files, "manifest.json"])}
    for name, document in documents.items():
        text = json.dumps(document, indent=1) + "\n"
        recording.write_whole(os.path.join(folder, name),
                              lambda file, text=text: file.write(text.encode()))


def on_oom(dir="oom_dumps", *, max_entries=100_000, max_dumps=5, max_bytes="256MiB", verdict=True,
           snapshot=True, min_seconds=60):
    """From now on, or in a `with` block, failures for lack of device memory are kept and explained.

    dir: where a folder of each is written, at most max_dumps of max_bytes (bytes, or a size such as
    "256MiB") together, older ones are removed; a line of the program that fails again within
    min_seconds is not written again. snapshot: whether they hold one, of the newest max_entries
    events of each device.
    verdict: it is printed when the exception leaves the program or the block. Returns a Handle with
    cancel(). Nothing of this changes the exception.

    >>> import tempfile, vramscope
    >>> from vramscope import sim
    >>> with tempfile.TemporaryDirectory() as folder, sim.Device("1GiB") as device:
    ...     with vramscope.on_oom(folder, verdict=False) as handle:
    ...         try:
    ...             device.alloc("2GiB")
    ...         except sim.OutOfMemoryError:
    ...             pass
    ...     len(handle.dumps)
    1
    """
    limits = Limits(max_dumps, max_bytes, min_seconds, remove_folder)
    return Handle(dir, max_entries, limits, verdict, snapshot).start().hook()
