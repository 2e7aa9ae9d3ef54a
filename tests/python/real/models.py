"""Models of the real torch, small ones, each with something that sizes get wrong."""
import torch
from torch import nn


class Tied(nn.Module):
    """A transformer whose head has the weight of its embedding."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, 1000, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        return self.head(self.layers(self.embed(tokens)))


class Own(nn.Module):
    """A parameter and a buffer of the module itself, beside children."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(16))
        self.register_buffer("mask", torch.ones(32, 32, dtype=torch.bool))
        self.inside = nn.Linear(16, 16)

    def forward(self, data):
        return self.inside(data * self.scale)


class Sparse(nn.Module):
    def __init__(self, layout):
        super().__init__()
        full = torch.zeros(32, 32)
        full[::4, ::8] = 1
        made = full.to_sparse() if layout == "coo" else getattr(full, "to_sparse_" + layout)()
        self.weight = nn.Parameter(made, requires_grad=layout == "coo")


class Views(nn.Module):
    """Parameters of one storage, as flattened ones are, and one that is a part of another."""

    def __init__(self):
        super().__init__()
        whole = torch.zeros(1000)
        self.first = nn.Parameter(whole[:400])
        self.second = nn.Parameter(whole[400:])
        self.inside = nn.Linear(10, 10, bias=False)
        self.again = nn.Linear(10, 10, bias=False)
        self.again.weight.data = self.inside.weight.data


def bert():
    from transformers import BertConfig, BertForMaskedLM
    return BertForMaskedLM(BertConfig(vocab_size=500, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                                      intermediate_size=64, max_position_embeddings=64))


def mixed():
    model = nn.Sequential(nn.Linear(64, 64).half(), nn.Linear(64, 64).bfloat16(), nn.BatchNorm1d(64))
    model.append(nn.ParameterList([nn.Parameter(torch.zeros(64, 64, dtype=torch.int8), requires_grad=False)]))
    return model


def frozen():
    model = nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 32))
    model[0].requires_grad_(False)
    return model


def quantised():
    from torch.ao.quantization import quantize_dynamic
    return quantize_dynamic(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)), {nn.Linear})


def quantised_buffer():
    model = nn.Module()
    model.register_buffer("weight", torch.quantize_per_tensor(torch.randn(64, 64), 0.1, 0, torch.qint8))
    return model


def lazy():
    return nn.Sequential(nn.LazyLinear(8), nn.Linear(8, 8))


MODELS = {
    "tied": Tied, "own": Own, "bert": bert, "mixed": mixed, "frozen": frozen, "leaf": lambda: nn.Linear(1000, 100),
    "attention": lambda: nn.MultiheadAttention(64, 4), "recurrent": lambda: nn.LSTM(32, 32, 2),
    "meta": lambda: nn.Linear(10_000, 50_000, device="meta"), "sparse": lambda: Sparse("coo"),
    "sparse_rows": lambda: Sparse("csr"), "views": Views, "quantised": quantised, "empty": nn.Module,
    "quantised_buffer": quantised_buffer, "lazy": lazy,
}
