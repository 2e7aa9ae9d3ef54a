"""Why memory ran out, and whether a setting that is said to serve does."""
import subprocess


def verdict(recording):
    """(what the program was written to have, what is said), or None."""
    wanted = recording.truth["planted"].get("verdict")
    return (wanted, recording.result("oom").get("verdict")) if wanted else None


def first_oom(recording, setting):
    """How many requests are served before the first that is not, with the whole program under a setting; None: all."""
    whole = recording.folder / (recording.truth["program"] + ".whole.pickle")
    asked = recording.ask("replay", "--json", "--capacity", recording.truth["capacity_bytes"], "--set", setting,
                          path=whole)["devices"][0]["result"]["what_if"][-1]
    if asked["first_oom"] is None:
        return None
    rows = recording.ask("export", "--to", "json", "-t", "allocations", path=whole)["tables"]["allocations"]
    return sum(r["alloc_event"] is not None and r["alloc_event"] < asked["first_oom"]["event"] for r in rows)


def setting(recording):
    """None, or (setting, is it said to save the run, is it true): else it is said to serve the request."""
    answer = recording.result("oom").get("what_if") if recording.truth["oom"] else None
    if not answer or not answer.get("setting") or answer["runs_out"]:
        return None
    text = subprocess.run([str(recording.vramscope), "oom", str(recording.path)], stdout=subprocess.PIPE,
                          check=False).stdout.decode()
    saves = "not run out" in " ".join(text.split())
    served = first_oom(recording, answer["setting"])
    held = served is None or not saves and served >= len(recording.truth["allocations"])
    return answer["setting"], saves, held
