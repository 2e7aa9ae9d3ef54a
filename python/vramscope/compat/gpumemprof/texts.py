"""What the analyzer says of each kind of finding: titles, sentences, advice.  No rule is here."""

# Kind: description, of its functions and figures; advice.
PATTERNS = {
    "memory_leak": (
        "{function!r} leaves more memory behind in most of its calls",
        ["Look at what '{function}' keeps: attributes, lists, closures, graphs of losses",
         "Store losses and metrics with .item() or .detach()",
         "Delete tensors that the next call does not need",
         "Record a snapshot and ask `vramscope leaks` for the line that keeps them"]),
    "fragmentation": (
        "Much of the reserved memory is not allocated after calls",
        ["Set expandable_segments:True in PYTORCH_ALLOC_CONF",
         "Keep sizes of tensors equal from step to step, by padding or buckets",
         "Allocate large buffers once, before the loop",
         "Give cached blocks back with torch.cuda.empty_cache() between phases"]),
    "inefficient_allocation": (
        "Calls keep more than their measured peak needed",
        ["Look at how these functions allocate",
         "Use in-place operations where gradients allow it",
         "Allocate buffers once and write into them",
         "Use views in place of copies"]),
    "memory_spikes": (
        "{spike_count} calls leave far more memory behind than the others",
        ["Look at the inputs of the calls that stand out",
         "Split large inputs into smaller batches",
         "Recompute activations (torch.utils.checkpoint) in large models",
         "Record a snapshot around one such call"]),
    "repeated_allocations": (
        "Functions that are called often leave a little behind each time",
        ["Allocate their buffers once, outside",
         "Keep a pool of buffers and use them again",
         "Join several calls into one",
         "Keep results that do not change"]),
    "monotonic_increase": (
        "Memory goes up in most steps from one sample to the next",
        ["Look at what each iteration keeps",
         "Store losses and metrics with .item() or .detach()"]),
    "insufficient_cleanup": (
        "The last samples lie well above the first ones",
        ["Compare the first and the last step with `vramscope diff`",
         "Delete what the first steps needed and later ones do not"]),
}

# Kind: category, title, description, recommendations.
INSIGHTS = {
    "slow_functions": (
        "execution_time", "Slow Function Detection",
        "{count} functions take longer than most others",
        ["Profile these functions by operator",
         "Look for transfers between host and device in them",
         "Look for calls that wait for the device, such as .item()",
         "Try torch.compile on them"]),
    "variable_times": (
        "execution_time", "Inconsistent Execution Times",
        "Times of some functions differ much from call to call",
        ["Leave the first calls out, which warm up",
         "Compare the sizes of inputs of slow and fast calls",
         "Look for other work on the device or host",
         "Look for memory given back to the driver and asked for again"]),
    "memory_intensive": (
        "memory_efficiency", "Memory-Intensive Functions",
        "{count} functions have calls that allocate much in little time",
        ["Use smaller data types where precision allows it",
         "Work on parts of large inputs in turn",
         "Accumulate gradients over smaller batches",
         "Write into buffers that exist"]),
    "time_and_memory": (
        "correlation", "Time-Memory Correlation",
        "Time and memory of calls go together (r = {correlation_coefficient:.2f})",
        ["Treat time and memory of these calls as one question",
         "Allocate what each call needs anew beforehand",
         "Look at the order in which memory is read and written",
         "Measure the bandwidth that the calls reach"]),
    "memory_growth": (
        "temporal", "Memory Growth Trend",
        "Memory after calls goes up over time",
        ["Look for a leak: record a snapshot and ask `vramscope leaks`",
         "Give back what long runs gather, at set intervals",
         "Watch the process with a tracker",
         "Set a limit that stops it before the device is full"]),
}

GAPS = {
    "transient_spike": (
        "{spike_count} samples use far more of the device than the allocator knows of "
        "(z up to {max_zscore:.1f}).",
        ["Look for workspaces and buffers of libraries (cuDNN, cuBLAS, NCCL) at those times.",
         "Look for other processes on the device.",
         "Record a snapshot around such a time, to see what the allocator holds then."]),
    "persistent_drift": (
        "What the device uses beside the allocator grows by {rate} a second "
        "(R2 = {r_squared:.2f}).",
        ["Look for libraries and kernels that allocate by themselves and keep it.",
         "Compare NVML's figures of this process with the allocator's over time.",
         "Leave the first minutes out: contexts and modules are loaded once."]),
    "fragmentation_like": (
        "{avg_fragmentation_ratio:.0%} of the reserved memory is not allocated, in the mean of "
        "all samples.",
        ["Set expandable_segments:True in PYTORCH_ALLOC_CONF.",
         "Keep sizes of tensors equal from step to step.",
         "Give cached blocks back with torch.cuda.empty_cache() between phases."]),
}

GRADES = {
    "A": "Memory is used well",
    "B": "Memory is used well, with small findings",
    "C": "Some findings are worth work",
    "D": "Findings ask for work",
    "F": "Severe findings ask for work first",
}

# What marks an event as one of collective communication, with or without underscores.
COLLECTIVES = ("nccl", "collective", "communication", "all_reduce", "all_gather",
               "reduce_scatter", "broadcast", "barrier")
