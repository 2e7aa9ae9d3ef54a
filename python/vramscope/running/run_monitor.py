"""`run --monitor`: samples of the device while the program runs, shown and written."""
from __future__ import annotations

import atexit
import os

from vramscope import backends, ranks
from vramscope.history import recording

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import BinaryIO

    from vramscope._core import Backend
    from vramscope.history.recording import Source
    from vramscope.running.run_process import Run
    from vramscope.tracker import Tracker


class Monitor:
    """A Tracker whose records are one file in the end; a killed program leaves them in a folder."""

    def __init__(self, run: Run, there: Source) -> None:
        from vramscope.tracker import Tracker
        backend, device = observed(there)
        self._pid = run.pid
        self._path = os.path.join(run.take_folder(), f"{run.who}.telemetry.jsonl")
        self._folder = self._path.removesuffix(".jsonl")
        self.tracker: Tracker = Tracker(device, backend=backend, sink=self._folder, live=True,
                                        interval=run.settings["interval"])
        self.tracker.start()
        # Before the tracker's own end, which would call the run interrupted.
        atexit.register(self._stop)

    def _stop(self) -> None:
        if os.getpid() == self._pid:
            self.tracker.stop()

    def end(self) -> str:
        """Stops; returns the path of the records."""
        import shutil
        self._stop()
        names = sorted(name for name in os.listdir(self._folder) if name.endswith(".jsonl"))
        parts = [os.path.join(self._folder, name) for name in names]
        if len(parts) == 1:
            os.replace(parts[0], self._path)
        else:
            def write(file: BinaryIO) -> None:
                for part in parts:
                    with open(part, "rb") as segment:
                        shutil.copyfileobj(segment, file)
            recording.write_whole(self._path, write)
        shutil.rmtree(self._folder, ignore_errors=True)
        return self._path


def observed(there: Source) -> tuple[Backend | None, int]:
    """The backend and the device to watch.

    Of torch's devices it is that of the local rank: this runs before the program has chosen one.
    """
    if isinstance(there, recording.SimSource):
        return there.device.backend, 0
    try:
        local: int | None = ranks.identity()["local_rank"]
    except ValueError:
        local = None
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    only_one = visible is not None and len(visible.split(",")) == 1
    return backends.torch(), 0 if local is None or only_one else local
