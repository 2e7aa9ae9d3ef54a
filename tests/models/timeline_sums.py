"""What a memory timeline says, by plain sums over its rows: the second implementation of src/analysis/trace/timeline."""
NAMES = ["parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", "unknown"]
BINS = 120


def of_rows(rows, extra):
    """`rows` are (ns or None, eight sizes), a row without a time first where there is one."""
    timed = [row for row in rows if row[0] is not None]
    sums = [sum(sizes) for _, sizes in rows]
    peak = sums.index(max(sums))

    def column(values):
        at = values.index(max(values))
        ratio = None
        if max(sums) > 0 and values[peak] >= 0:
            ratio = round(values[peak] / max(sums), 6)
        return {"at_peak_bytes": values[peak], "at_peak_ratio": ratio, "peak_bytes": max(values), "peak_ns": rows[at][0],
                "before_bytes": values[0] if rows[0][0] is None else 0, "end_bytes": values[-1],
                "below_zero": sum(v < 0 for v in values), "lowest_bytes": min(values)}

    categories = [{"category": name, **column([sizes[k] for _, sizes in rows])} for k, name in enumerate(NAMES)]
    categories.sort(key=lambda c: -c["at_peak_bytes"])
    first, last = (timed[0][0], timed[-1][0]) if timed else (None, None)
    return {"states": len(timed), "sum": column(sums), "categories": categories, **extra,
            "window": {"first_ns": first, "last_ns": last, "ns": last - first if timed else None,
                       "curve_bytes": curve(timed, first, last) if timed and last > first else None}}


def curve(timed, first, last):
    bins = [[] for _ in range(BINS)]
    before = None
    for ns, sizes in timed:
        at = min(int((ns - first) / (last - first) * BINS), BINS - 1)
        for k in range(at + 1):
            if not bins[k] and before is not None:
                bins[k].append(before)
        bins[at].append(sum(sizes))
        before = sum(sizes)
    return [max(b) for b in bins]


def events_as_rows(events):
    rows, sizes = [], [0] * 8
    for ns, _, size, category in events:
        sizes[category] += size
        ns = None if ns < 0 else ns
        if rows and rows[-1][0] == ns:
            rows.pop()
        rows.append((ns, list(sizes)))
    return rows


def states_as_rows_of(times, sizes):
    before = len(times) > 1 and times[0] == times[1] or times[0] < 0
    return [(None if before and i == 0 else us * 1000, row[1:]) for i, (us, row) in enumerate(zip(times, sizes))]


def states_as_rows(name, data):
    return events_as_rows(data) if name.startswith("raw") else states_as_rows_of(*data)


def of_events(events):
    counts = {name: sum(e[1] == k for e in events) for k, name in enumerate(("pre_existing", "create", "version", "destroy"), 1)}
    return of_rows(events_as_rows(events), {"form": "events", "events": counts})


def of_states(times, sizes):
    return of_rows(states_as_rows_of(times, sizes),
                   {"form": "states", "events": dict.fromkeys(("pre_existing", "create", "version", "destroy"))})
