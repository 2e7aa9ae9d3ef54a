"""A recommender: twelve tables of categories whose gradients are dense, and pairwise products of what they give.

Adagrad; the gradient of each table is as large as the table.  The peak is in the optimizer, which has temporaries of all
tables at once.
"""
import torch
from torch import nn

ADVICE = {"optimizer-foreach": [("lr=0.02)", "lr=0.02, foreach=False)")]}
BATCH = 2


def mlp(sizes, last=None):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1], *([last] if last else []))


class DLRM(nn.Module):
    def __init__(self, tables, dim=64, dense=13):
        super().__init__()
        self.emb_l = nn.ModuleList(nn.EmbeddingBag(n, dim, mode="sum") for n in tables)
        self.bot_l = mlp((dense, 512, 256, dim), nn.ReLU())
        pairs = (len(tables) + 1) * len(tables) // 2
        self.top_l = mlp((dim + pairs, 1024, 1024, 512, 1))
        rows, cols = zip(*((i, j) for i in range(len(tables) + 1) for j in range(i)))
        self.register_buffer("rows", torch.tensor(rows))
        self.register_buffer("cols", torch.tensor(cols))

    def interact(self, x, ly):
        T = torch.stack([x, *ly], dim=1)
        Z = torch.bmm(T, T.transpose(1, 2))
        return torch.cat([x, Z[:, self.rows, self.cols]], dim=1)

    def forward(self, dense, sparse):
        ly = [emb(ids) for emb, ids in zip(self.emb_l, sparse.unbind(0))]
        return self.top_l(self.interact(self.bot_l(dense), ly)).squeeze(1)


class Trainer:
    def __init__(self, model):
        self.model, self.loss_fn = model, nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)

    def train_batch(self, dense, sparse, label):
        loss = self.loss_fn(self.model(dense, sparse), label)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(run):
    trainer = Trainer(DLRM([40000, 25000, 60000, 3000, 1200, 80000, 500, 30000, 9000, 100, 20000, 45000]).to(run.device))
    for _ in range(6):
        with run.step():
            batch = (run.values(4096, 13), run.tokens(4096, 12, 3).permute(1, 0, 2), run.values(4096))
            trainer.train_batch(*(t.to(run.device, non_blocking=True) for t in batch))
    run.snapshot()
