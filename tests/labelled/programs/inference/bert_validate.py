"""Validation of a BERT with a head of words: each batch's logits are bound anew while the old are alive."""
import torch
from transformers import BertConfig, BertForMaskedLM


def main(run):
    config = BertConfig(vocab_size=16000, hidden_size=512, num_hidden_layers=4, num_attention_heads=8,
                        intermediate_size=2048)
    model = BertForMaskedLM(config).to(run.device).eval()
    right = torch.zeros((), device=run.device)
    with torch.no_grad():
        for _ in range(3):
            with run.other_pass():
                tokens = run.tokens(16, 128).to(run.device)
                logits = model(input_ids=tokens).logits
                right += (logits.argmax(-1) == tokens).sum()
    run.snapshot()
