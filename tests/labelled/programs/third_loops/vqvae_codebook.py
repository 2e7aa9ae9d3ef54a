"""A VQ-VAE whose codebook is no parameter: buffers that follow the codes by exponential averages.

Distances to all codes are a large table of a moment.  Pictures of each epoch's last batch stay until the next replaces
them.
"""
import torch
from torch import nn
from torch.nn import functional as F

BATCH = 2


class Quantize(nn.Module):
    def __init__(self, dim, n_embed, decay=0.99, eps=1e-5):
        super().__init__()
        self.dim, self.n_embed, self.decay, self.eps = dim, n_embed, decay, eps
        embed = torch.randn(dim, n_embed)
        self.register_buffer("embed", embed)
        self.register_buffer("cluster_size", torch.zeros(n_embed))
        self.register_buffer("embed_avg", embed.clone())

    def forward(self, input):
        flatten = input.reshape(-1, self.dim)
        dist = flatten.pow(2).sum(1, keepdim=True) - 2 * flatten @ self.embed + self.embed.pow(2).sum(0, keepdim=True)
        _, embed_ind = (-dist).max(1)
        embed_onehot = F.one_hot(embed_ind, self.n_embed).type(flatten.dtype)
        quantize = F.embedding(embed_ind.view(*input.shape[:-1]), self.embed.transpose(0, 1))
        if self.training:
            embed_sum = flatten.transpose(0, 1) @ embed_onehot
            self.cluster_size.data.mul_(self.decay).add_(embed_onehot.sum(0), alpha=1 - self.decay)
            self.embed_avg.data.mul_(self.decay).add_(embed_sum.data, alpha=1 - self.decay)
            n = self.cluster_size.sum()
            cluster_size = (self.cluster_size + self.eps) / (n + self.n_embed * self.eps) * n
            self.embed.data.copy_(self.embed_avg / cluster_size.unsqueeze(0))
        diff = (quantize.detach() - input).pow(2).mean()
        return input + (quantize - input).detach(), diff


class ResBlock(nn.Module):
    def __init__(self, channel, mid):
        super().__init__()
        self.conv = nn.Sequential(nn.ReLU(), nn.Conv2d(channel, mid, 3, padding=1), nn.ReLU(inplace=True),
                                  nn.Conv2d(mid, channel, 1))

    def forward(self, x):
        return self.conv(x) + x


class VQVAE(nn.Module):
    def __init__(self, channel=128, embed_dim=64, n_embed=1024):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(3, channel // 2, 4, 2, 1), nn.ReLU(), nn.Conv2d(channel // 2, channel, 4, 2, 1),
                                 ResBlock(channel, 32), ResBlock(channel, 32), nn.ReLU(), nn.Conv2d(channel, embed_dim, 1))
        self.quantize = Quantize(embed_dim, n_embed)
        self.dec = nn.Sequential(nn.Conv2d(embed_dim, channel, 3, padding=1), ResBlock(channel, 32),
                                 ResBlock(channel, 32), nn.ReLU(), nn.ConvTranspose2d(channel, channel // 2, 4, 2, 1),
                                 nn.ReLU(), nn.ConvTranspose2d(channel // 2, 3, 4, 2, 1))

    def forward(self, x):
        quant, diff = self.quantize(self.enc(x).permute(0, 2, 3, 1))
        return self.dec(quant.permute(0, 3, 1, 2)), diff


def main(run):
    model = VQVAE().to(run.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    grid = None
    for epoch in range(2):
        for i in range(4):
            with run.step():
                img = run.values(64, 3, 64, 64).to(run.device)
                model.zero_grad()
                out, latent_loss = model(img)
                loss = F.mse_loss(out, img) + 0.25 * latent_loss
                loss.backward()
                optimizer.step()
        model.eval()
        with run.other_pass(), torch.no_grad():
            sample = img[:16]
            grid = torch.cat([sample, model(sample)[0]], 0)
        model.train()
    assert grid is not None
    run.snapshot()
