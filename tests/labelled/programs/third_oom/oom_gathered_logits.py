"""An evaluation gathers the logits of all batches on the device and concatenates them: the list fits, its copy does not."""
import torch
import torch.nn as nn

CAPACITY = 1536 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}


class Tagger(nn.Module):
    def __init__(self, vocab=20000, dim=256, tags=900):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.convs = nn.Sequential(*[m for _ in range(3) for m in (nn.Conv1d(dim, dim, 5, padding=2), nn.ReLU())])
        self.fc = nn.Linear(dim, tags)

    def forward(self, x):
        return self.fc(self.convs(self.emb(x).transpose(1, 2)).transpose(1, 2))


def train_epoch(run, model, optimizer, criterion, batches):
    model.train()
    running_loss = 0.0
    for _ in range(batches):
        with run.step():
            inputs, labels = run.tokens(32, 40).to(run.device), run.tokens(32, 40).to(run.device)
            optimizer.zero_grad()
            loss = criterion(model(inputs).transpose(1, 2), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
    return running_loss


def evaluate(run, model, batches):
    model.eval()
    preds, trues = [], []
    with torch.no_grad():
        for _ in range(batches):
            with run.other_pass():
                inputs, labels = run.tokens(256, 40), run.tokens(256, 40)
                preds.append(model(inputs.to(run.device)))
                trues.append(labels)
    with run.other_pass():
        preds, trues = torch.cat(preds), torch.cat(trues)
        return preds.argmax(-1).cpu(), trues


def main(run):
    model = Tagger().to(run.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train_epoch(run, model, optimizer, nn.CrossEntropyLoss(), 4)
    evaluate(run, model, 24)
    train_epoch(run, model, optimizer, nn.CrossEntropyLoss(), 1)
    run.snapshot()
