"""A folder that takes long to make: one worker of the test run makes it, and the others wait for it."""
import os
import time

HANGS = 900  # seconds


def made_once(tmp_path_factory, name, make):
    """The folder, in which make(folder) has run; where that failed, all who want it fail."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder, done = folder / name, folder / f"{name}.done"
    try:
        folder.mkdir()
    except FileExistsError:
        for _ in range(HANGS):
            if done.exists():
                break
            time.sleep(1)
        assert done.exists(), f"{name} was not made in {HANGS} s"
        assert done.read_text() == "made", f"{name} could not be made, as another test says"
        return folder
    try:
        make(folder)
    except BaseException:
        done.write_text("failed")
        raise
    done.write_text("made")
    return folder
