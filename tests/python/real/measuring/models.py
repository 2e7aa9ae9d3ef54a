"""models.py: the whole method on models of transformers and torchvision on the CPU, by its drop-in and by diagnose(); prints JSON."""
import contextlib
import io
import json

import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertForSequenceClassification, GPT2Config, GPT2LMHeadModel

import vramscope
from vramscope.compat import methodology

torch.manual_seed(0)
torch.set_num_threads(1)
small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
models = {
    "bert": (BertForSequenceClassification(BertConfig(vocab_size=100, num_labels=10, **small)), lambda: torch.randint(100, (16,))),
    "gpt2": (GPT2LMHeadModel(GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=2)), lambda: torch.randint(100, (16,))),
    "resnet": (torchvision.models.resnet18(num_classes=10), lambda: torch.randn(3, 32, 32)),
}


class Made(Dataset):
    def __init__(self, sample):
        self.sample = sample

    def __len__(self):
        return 48

    def __getitem__(self, number):
        return self.sample(), number % 10


def criterion(output, target):
    logits = getattr(output, "logits", output)
    return nn.functional.cross_entropy(logits.flatten(0, -2), target.repeat_interleave(logits[0].numel() // logits.shape[-1]))


answers = {}
for name, (model, sample) in models.items():
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(Made(sample), batch_size=4)
    found = vramscope.diagnose(model, loader, criterion=criterion, optimizer=optimizer, batches=8, warmup=2, steps=3, seconds=120)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        figures = methodology.comprehensive_profiling(model, loader, device="cpu", criterion=criterion, optimizer=optimizer)
    answers[name] = {"page": found.text(width=80), "document": json.loads(found.json()), "said": said.getvalue(), "figures": figures}
    found.trace.close()
print(json.dumps(answers))
