"""OPT of Transformers: four micro batches a step, reduced after the last as in data parallel; fused AdamW."""
from contextlib import contextmanager, nullcontext

import torch
from torch import nn
from transformers import OPTConfig, OPTForCausalLM


class Parallel(nn.Module):
    """One rank of several: gradients are averaged after the last micro batch, through one bucket."""

    def __init__(self, module):
        super().__init__()
        self.module, self.sync = module, True

    @contextmanager
    def no_sync(self):
        self.sync = False
        yield
        self.sync = True

    def forward(self, **inputs):
        return self.module(**inputs)

    @torch.no_grad()
    def reduce(self):
        for block in self.module.model.decoder.layers:
            grads = [p.grad for p in block.parameters()]
            bucket = torch.cat([g.flatten() for g in grads])
            bucket.div_(2)
            begin = 0
            for g in grads:
                g.copy_(bucket[begin:begin + g.numel()].view_as(g))
                begin += g.numel()


def main(run):
    config = OPTConfig(vocab_size=10000, hidden_size=512, ffn_dim=2048, num_hidden_layers=6, num_attention_heads=8,
                       max_position_embeddings=256, word_embed_proj_dim=512)
    ddp = Parallel(OPTForCausalLM(config).to(run.device))
    optimizer = torch.optim.AdamW(ddp.parameters(), lr=1e-4, fused=True)
    accumulate = 4
    for _ in range(4):
        with run.step():
            for micro in range(accumulate):
                tokens = run.tokens(4, 160).to(run.device)
                with nullcontext() if micro == accumulate - 1 else ddp.no_sync():
                    loss = ddp(input_ids=tokens, labels=tokens, use_cache=False).loss / accumulate
                    loss.backward()
            ddp.reduce()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
