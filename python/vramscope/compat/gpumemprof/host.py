"""The machine's memory as the kernel tells it."""
from __future__ import annotations


def meminfo() -> dict[str, int]:
    """The lines of /proc/meminfo that are sizes, in bytes."""
    kept = {}
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            name, _, value = line.partition(":")
            if value.rstrip().endswith("kB"):
                kept[name] = int(value.split()[0]) << 10
    return kept


def used() -> int:
    """Bytes in use, all processes together, without caches of files."""
    memory = meminfo()
    cached = memory["Buffers"] + memory["Cached"] + memory.get("SReclaimable", 0)
    taken = memory["MemTotal"] - memory["MemFree"]
    return taken - cached if cached <= taken else taken


def cores() -> int | None:
    """Physical processor cores that are online; None where /proc/cpuinfo does not tell them."""
    found: set[tuple[str, str]] = set()
    package = ""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        for line in file:
            name, _, value = (part.strip() for part in line.partition(":"))
            if name == "physical id":
                package = value
            elif name == "core id":
                found.add((package, value))
    return len(found) or None
