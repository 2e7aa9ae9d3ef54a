"""Node classification on one graph that stays on the device: messages along all edges are made and summed by index_add.

The features and edges were copied once and are alive throughout.  Each epoch evaluates under no_grad.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class GCNConv(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, x, edge_index, norm):
        x = self.lin(x)
        row, col = edge_index
        out = norm.view(-1, 1) * x.index_select(0, row)
        return torch.zeros_like(x).index_add(0, col, out) + self.bias


def gcn_norm(edge_index, num_nodes):
    row, col = edge_index
    deg = torch.zeros(num_nodes, device=row.device).index_add(0, col, torch.ones(col.numel(), device=row.device))
    deg_inv_sqrt = deg.pow(-0.5)
    return deg_inv_sqrt[row] * deg_inv_sqrt[col]


class GCN(nn.Module):
    def __init__(self, num_features, hidden, num_classes):
        super().__init__()
        self.conv1, self.conv2 = GCNConv(num_features, hidden), GCNConv(hidden, hidden)
        self.conv3 = GCNConv(hidden, num_classes)

    def forward(self, x, edge_index, norm):
        x = F.dropout(self.conv1(x, edge_index, norm).relu(), p=0.5, training=self.training)
        x = F.dropout(self.conv2(x, edge_index, norm).relu(), p=0.5, training=self.training)
        return self.conv3(x, edge_index, norm)


def train(model, optimizer, x, edge_index, norm, y, train_mask):
    model.train()
    optimizer.zero_grad()
    out = model(x, edge_index, norm)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    return float(loss)


@torch.no_grad()
def test(model, x, edge_index, norm, y, masks):
    model.eval()
    pred = model(x, edge_index, norm).argmax(dim=-1)
    return [int((pred[mask] == y[mask]).sum()) / mask.numel() for mask in masks]


def main(run):
    nodes, edges = 40000, 160000
    x, y = run.values(nodes, 500).to(run.device), run.tokens(nodes).to(run.device)
    edge_index = torch.empty(2, edges, dtype=torch.int64).to(run.device)
    masks = [torch.empty(n, dtype=torch.int64).to(run.device) for n in (20000, 10000, 10000)]
    norm = gcn_norm(edge_index, x.size(0))
    model = GCN(500, 256, 40).to(run.device)
    optimizer = torch.optim.Adam([
        {"params": model.conv1.parameters(), "weight_decay": 5e-4},
        {"params": [*model.conv2.parameters(), *model.conv3.parameters()], "weight_decay": 0}], lr=0.01)
    best = 0
    for epoch in range(1, 6):
        with run.step():
            train(model, optimizer, x, edge_index, norm, y, masks[0])
        with run.other_pass():
            train_acc, val_acc, test_acc = test(model, x, edge_index, norm, y, masks)
            best = max(best, val_acc)
    run.snapshot()
