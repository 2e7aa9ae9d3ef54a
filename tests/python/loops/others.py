"""Other programs for the same rules, written after them: a script without a function, and a trainer of a language model
with an attention of its own.  What is planted stands beside each: rule -> the function that holds it."""

BEGIN = '''\
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

torch.manual_seed(1)
torch.set_num_threads(1)


def profiled():
    return profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=2, active=5, repeat=1),
                   record_shapes=True, profile_memory=True, with_stack=sys.argv[2] == "stacks")


'''
SCRIPT = BEGIN + '''\
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters())
loader = DataLoader(TensorDataset(torch.randn(4096, 64), torch.randn(4096, 1)), batch_size=512)
with profiled() as profiler:
    for x, y in loader:
        {batch}
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        {after}
        optimizer.step()
        profiler.step()
profiler.export_chrome_trace(sys.argv[1])
'''
TRAINER = BEGIN + '''\
class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (y.view(batch, length, 4, width // 4).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        weights = (torch.matmul(q, k.transpose(-1, -2)) / 8).softmax(-1)
        {attention}
        return self.out(torch.matmul(weights, v).transpose(1, 2).contiguous().view(batch, length, width))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention, self.norm = Attention(width), nn.LayerNorm(width)
        self.inner = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.inner(x)


class Model(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embedding, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.blocks = nn.ModuleList(Block(width) for _ in range(3))

    def forward(self, ids, targets):
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(x).flatten(0, 1), targets.flatten())


class Text(IterableDataset):
    def __iter__(self):
        for _ in range(40):
            {sample}
            yield torch.randint(1000, (128,)), torch.randint(1000, (128,))


class Trainer:
    def __init__(self):
        self.model, self.losses = Model(1000, 128), []
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def step(self, ids, targets):
        {step}
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled={autocast}):
            loss = self.model(ids, targets) / 2
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def fit(self, loader):
        with profiled() as profiler:
            for ids, targets in loader:
                self.losses.append(self.step(ids, targets))
                {fit}
                profiler.step()
        profiler.export_chrome_trace(sys.argv[1])


Trainer().fit(DataLoader(Text(), batch_size=4))
'''


def script(batch="pass", after="pass"):
    return SCRIPT.format(batch=batch, after=after)


def trainer(**parts):
    return TRAINER.format(**{**dict.fromkeys(["attention", "sample", "step", "fit"], "pass"), "autocast": False, **parts})


OTHERS = {
    "script": (script(), {}),
    "script_printf": (script(after="print('%.3f' % loss.item())"), {"ITEM-STEP": "<module>"}),
    "script_format": (script(after="print(f'loss {loss:.3f}')"), {"ITEM-STEP": "<module>"}),
    "script_assert": (script(after="assert not torch.isnan(loss)"), {"ITEM-STEP": "<module>"}),
    "script_rows": (script("x = torch.stack([row.sort()[0] for row in (x - x.mean(0)) / x.std(0)])"),
                    {"STEP-OTHER": "<module>"}),
    "trainer": (trainer(), {}),
    "trainer_autocast": (trainer(autocast=True), {}),
    "trainer_assert": (trainer(attention="assert weights.max().item() < 2"), {"ITEM-STEP": "forward"}),
    "trainer_clone": (trainer(attention="weights = weights.clone().clone().clone()"), {"COPY-STEP": "forward"}),
    "trainer_mean": (trainer(fit="mean = sum(float(loss) for loss in self.losses)"), {"ITEM-STEP": "fit"}),
    "trainer_sleeps": (trainer(sample="time.sleep(0.02)"), {"DATA-3": "__iter__"}),
    "trainer_mask": (trainer(step="mask = [[i <= j for i in range(800)] for j in range(800)]"), {"STEP-OTHER": "step"}),
}
