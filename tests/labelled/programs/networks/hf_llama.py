"""Llama of Transformers with 24 layers, without checkpointing."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

ADVICE = {"checkpoint": [("    model.train()\n", "    model.train()\n    model.gradient_checkpointing_enable()\n")]}


def main(run):
    config = LlamaConfig(vocab_size=4000, hidden_size=256, intermediate_size=704, num_hidden_layers=24,
                         num_attention_heads=8, num_key_value_heads=4, use_cache=False)
    model = LlamaForCausalLM(config).to(run.device)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(3):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
