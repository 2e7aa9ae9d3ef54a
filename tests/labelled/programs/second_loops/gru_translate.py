"""Sequence to sequence with GRUs, teacher forcing, sentences of any length, and Adagrad."""
import random

import torch
from torch import nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self, words, width, hidden):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.gru = nn.GRU(width, hidden, bidirectional=True, batch_first=True)
        self.join = nn.Linear(2 * hidden, hidden)

    def forward(self, source):
        outputs, hidden = self.gru(self.embedding(source))
        return self.join(outputs), torch.tanh(self.join(torch.cat([hidden[0], hidden[1]], -1)))


class Decoder(nn.Module):
    def __init__(self, words, width, hidden):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.cell = nn.GRUCell(width + hidden, hidden)
        self.out = nn.Linear(2 * hidden, words)

    def forward(self, target, memory, hidden):
        logits = []
        for word in self.embedding(target).unbind(1):
            weights = torch.bmm(memory, hidden.unsqueeze(2)).softmax(1)
            context = (weights * memory).sum(1)
            hidden = self.cell(torch.cat([word, context], -1), hidden)
            logits.append(self.out(torch.cat([hidden, context], -1)))
        return torch.stack(logits, 1)


def batches(run, count):
    chance = random.Random(3)
    for _ in range(count):
        yield run.tokens(48, chance.randint(18, 40)), run.tokens(48, chance.randint(12, 24))


def main(run):
    encoder, decoder = Encoder(9000, 256, 512).to(run.device), Decoder(9000, 256, 512).to(run.device)
    params = list(encoder.parameters()) + list(decoder.parameters())
    optimizer = torch.optim.Adagrad(params, lr=0.01)
    for source, target in batches(run, 8):
        with run.step():
            source, target = source.to(run.device), target.to(run.device)
            memory, hidden = encoder(source)
            logits = decoder(target[:, :-1], memory, hidden)
            loss = F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=0)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(params, 1.0)
            optimizer.step()
    run.snapshot()
