"""5: scopes inside scopes, and in two threads, have the peaks that they have alone."""
import threading

import device
import torch
import vramscope

MIB = 1 << 20


def work(profiler, name, mib):
    with profiler.scope(name) as scope:
        torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")
        with profiler.scope(name + " inside") as inside:
            torch.empty(mib * MIB // 4, dtype=torch.uint8, device="cuda")
        torch.cuda.synchronize()
    return scope.result.peak_delta_bytes, inside.result.peak_delta_bytes


torch.zeros(1, device="cuda")
with vramscope.Profiler() as profiler:
    alone = work(profiler, "alone", 256)
    with vramscope.Profiler() as other, other.scope("around"), profiler.scope("outer") as outer:
        beside = work(profiler, "beside", 256)
    given = {}
    threads = [threading.Thread(target=lambda n=n: given.update({n: work(profiler, f"t{n}", 64)}))
               for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
device.say(alone=alone, beside=beside, outer=outer.result.peak_delta_bytes, threads=list(given.values()))
