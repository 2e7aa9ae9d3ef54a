"""GPT-2 of Transformers, with dropout and tied embeddings."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel


def main(run):
    config = GPT2Config(vocab_size=8000, n_positions=256, n_embd=512, n_layer=4, n_head=8, use_cache=False)
    model = GPT2LMHeadModel(config).to(run.device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
