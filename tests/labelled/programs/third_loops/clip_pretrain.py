"""Pictures and their captions: two towers, one temperature, and a table of similarities; each tower recomputes its blocks.

Nothing is kept.  Checkpointing is on already, so there is little to save.
"""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

BATCH = 2


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class ResidualAttentionBlock(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.attn = nn.MultiheadAttention(d_model, n_head, batch_first=True)
        self.ln_1, self.ln_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, d_model * 4), QuickGELU(), nn.Linear(d_model * 4, d_model))

    def forward(self, x):
        y = self.ln_1(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.ln_2(x))


class Transformer(nn.Module):
    def __init__(self, width, layers, heads):
        super().__init__()
        self.resblocks = nn.ModuleList([ResidualAttentionBlock(width, heads) for _ in range(layers)])

    def forward(self, x):
        for r in self.resblocks:
            x = checkpoint(r, x, use_reentrant=False)
        return x


class CLIP(nn.Module):
    def __init__(self, embed_dim=384, res=96, patch=12, vision=512, text=384, vocab=16000, context=48):
        super().__init__()
        self.conv1 = nn.Conv2d(3, vision, patch, patch, bias=False)
        self.class_embedding = nn.Parameter(vision ** -0.5 * torch.randn(vision))
        self.positional = nn.Parameter(torch.randn((res // patch) ** 2 + 1, vision))
        self.visual, self.text = Transformer(vision, 8, 8), Transformer(text, 6, 6)
        self.token_embedding = nn.Embedding(vocab, text)
        self.text_positional = nn.Parameter(torch.randn(context, text))
        self.visual_projection = nn.Parameter(torch.randn(vision, embed_dim))
        self.text_projection = nn.Parameter(torch.randn(text, embed_dim))
        self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.07))

    def encode_image(self, image):
        x = self.conv1(image).flatten(2).transpose(1, 2)
        cls = self.class_embedding.expand(x.size(0), 1, -1)
        x = self.visual(torch.cat([cls, x], dim=1) + self.positional)
        return x[:, 0] @ self.visual_projection

    def encode_text(self, text):
        x = self.text(self.token_embedding(text) + self.text_positional)
        return x[:, -1] @ self.text_projection

    def forward(self, image, text):
        return (F.normalize(self.encode_image(image), dim=-1), F.normalize(self.encode_text(text), dim=-1),
                self.logit_scale.exp())


def clip_loss(image_features, text_features, logit_scale):
    logits_per_image = logit_scale * image_features @ text_features.T
    labels = torch.arange(logits_per_image.shape[0], device=logits_per_image.device)
    return (F.cross_entropy(logits_per_image, labels) + F.cross_entropy(logits_per_image.T, labels)) / 2


def main(run):
    model = CLIP().to(run.device)
    gain = [p for p in model.parameters() if p.ndim < 2]
    rest = [p for p in model.parameters() if p.ndim >= 2]
    optimizer = torch.optim.AdamW([{"params": gain, "weight_decay": 0.}, {"params": rest, "weight_decay": 0.2}],
                                  lr=5e-4, betas=(0.9, 0.98), eps=1e-6)
    for i in range(5):
        with run.step():
            images, texts = run.values(96, 3, 96, 96).to(run.device), run.tokens(96, 48).to(run.device)
            optimizer.zero_grad()
            loss = clip_loss(*model(images, texts))
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                model.logit_scale.clamp_(0, np.log(100))
    run.snapshot()
