"""Updates of low rank in a Qwen of Transformers, weights in 16 bit, the updates in 32; nothing is recomputed."""
import math

import torch
from torch import nn
from transformers import Qwen2Config, Qwen2ForCausalLM

ADVICE = {"checkpoint": [("    model.train()\n", "    model.train()\n    model.gradient_checkpointing_enable()\n"
                          "    model.enable_input_require_grads()\n")]}


class LowRank(nn.Module):
    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base, self.scale = base, alpha / rank
        self.a = nn.Parameter(torch.empty(rank, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def forward(self, x):
        return self.base(x) + ((x.float() @ self.a.t()) @ self.b.t()).mul(self.scale).to(x.dtype)


def inject(model, names, rank=16, alpha=32):
    for p in model.parameters():
        p.requires_grad_(False)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name in names and isinstance(child, nn.Linear):
                setattr(module, name, LowRank(child, rank, alpha))
    return model


def main(run):
    config = Qwen2Config(vocab_size=8000, hidden_size=768, intermediate_size=2048, num_hidden_layers=8,
                         num_attention_heads=12, num_key_value_heads=4)
    model = inject(Qwen2ForCausalLM(config).to(torch.bfloat16), ("q_proj", "v_proj", "down_proj")).to(run.device)
    model.train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(4, 256).to(run.device)
            out = model(input_ids=tokens, labels=tokens, use_cache=False)
            out.loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            del out
    run.snapshot()
