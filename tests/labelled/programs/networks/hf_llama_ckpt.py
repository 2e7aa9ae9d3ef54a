"""Llama of Transformers with gradient checkpointing."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

BATCH = 2


def main(run):
    config = LlamaConfig(vocab_size=16000, hidden_size=512, intermediate_size=1408, num_hidden_layers=6,
                         num_attention_heads=8, num_key_value_heads=4)
    model = LlamaForCausalLM(config).to(run.device)
    model.gradient_checkpointing_enable()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            loss = model(input_ids=tokens, labels=tokens).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
