"""A language model of two LSTM layers, cut through time: the hidden state is detached, the outputs are all kept."""
import torch
import torch.nn as nn

PLANTED = {"leak": "output, hidden = self.rnn("}


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers)
        self.decoder = nn.Linear(nhid, ntoken)
        self.memory = []

    def forward(self, input, hidden):
        emb = self.encoder(input)
        output, hidden = self.rnn(emb, hidden)
        self.remember(output.detach())
        return self.decoder(output), hidden

    def remember(self, output):
        self.memory.append(output)


def repackage(hidden):
    return tuple(h.detach() for h in hidden)


def train(run, model, criterion, lr=20.0):
    hidden = None
    for batch in range(7):
        with run.step():
            data, targets = run.tokens(35, 64).to(run.device), run.tokens(35, 64).to(run.device)
            model.zero_grad()
            if hidden is not None:
                hidden = repackage(hidden)
            output, hidden = model(data, hidden)
            loss = criterion(output.view(-1, output.size(-1)), targets.view(-1))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            with torch.no_grad():
                for p in model.parameters():
                    p.add_(p.grad, alpha=-lr)


def main(run):
    model = RNNModel(10000, 650, 1024, 2).to(run.device)
    train(run, model, nn.CrossEntropyLoss())
    run.snapshot()
