"""12: what each figure says under a private pool, expandable segments, and CUDA's own allocator."""
import device
import torch
import vramscope

with vramscope.Profiler() as profiler:
    kept = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    plain = profiler.checkpoint("plain")
    pool = torch.cuda.MemPool() if hasattr(torch.cuda, "MemPool") else None
    if pool is not None:
        with torch.cuda.use_mem_pool(pool):
            inside = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
    record = profiler.checkpoint("pool")
device.say(allocator=torch.cuda.get_allocator_backend(), plain=plain.allocated_bytes,
           reserved=record.reserved_bytes, with_pool=record.allocated_bytes, state=record.state)
