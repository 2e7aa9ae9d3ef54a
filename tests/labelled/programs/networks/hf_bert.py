"""BERT of Transformers, a classifier; gradients are cleared after the next forward."""
import torch
from transformers import BertConfig, BertForSequenceClassification

ADVICE = {"grad-late-zero": [("            optimizer.zero_grad()\n", ""),
                             ("            optimizer.step()\n",
                              "            optimizer.step()\n            optimizer.zero_grad()\n")]}
BATCH = 2


def main(run):
    config = BertConfig(vocab_size=16000, hidden_size=512, num_hidden_layers=6, num_attention_heads=8,
                        intermediate_size=2048, num_labels=3)
    model = BertForSequenceClassification(config).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(16, 128).to(run.device)
            labels = run.tokens(16).to(run.device)
            loss = model(input_ids=tokens, labels=labels).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    run.snapshot()
