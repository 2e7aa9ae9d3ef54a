"""A T5 of Transformers with PyTorch's Adafactor: the state is a row and a column of each weight."""
import torch
from transformers import T5Config, T5ForConditionalGeneration

BATCH = 2
ADVICE = {"grad-late-zero": [("    optimizer.zero_grad(set_to_none=True)\n", ""),
                             ("    schedule.step()\n",
                              "    schedule.step()\n    optimizer.zero_grad(set_to_none=True)\n")]}


def train(run, model, optimizer, schedule, steps):
    for _ in range(steps):
        with run.step():
            one_step(run, model, optimizer, schedule)


def one_step(run, model, optimizer, schedule):
    source, target = run.tokens(8, 192).to(run.device), run.tokens(8, 48).to(run.device)
    loss = model(input_ids=source, decoder_input_ids=target, labels=target, use_cache=False).loss
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    schedule.step()


def main(run):
    config = T5Config(vocab_size=12000, d_model=512, d_kv=64, d_ff=2048, num_layers=5, num_heads=8,
                      tie_word_embeddings=False, dropout_rate=0.1)
    model = T5ForConditionalGeneration(config).to(run.device).train()
    optimizer = torch.optim.Adafactor(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    train(run, model, optimizer, schedule, 4)
    run.snapshot()
