"""A radiance field: rays are sampled coarse and fine, two networks, and a picture is rendered in chunks every third step.

The rendered chunks are concatenated on the device and dropped with the picture.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

ADVICE = {"checkpoint": [("    raw = net(encode(points, 10), encode(views, 4))\n",
                          "    raw = checkpoint(net, encode(points, 10), encode(views, 4), use_reentrant=False)\n")]}
BATCH = 2


def encode(x, freqs):
    out = [x]
    for i in range(freqs):
        out += [torch.sin(2.0 ** i * x), torch.cos(2.0 ** i * x)]
    return torch.cat(out, -1)


class NeRF(nn.Module):
    def __init__(self, D=8, W=256, skip=4):
        super().__init__()
        self.skip = skip
        self.pts_linears = nn.ModuleList([nn.Linear(63, W)] + [
            nn.Linear(W + 63 if i == skip else W, W) for i in range(D - 1)])
        self.alpha_linear, self.feature_linear = nn.Linear(W, 1), nn.Linear(W, W)
        self.views_linear, self.rgb_linear = nn.Linear(W + 27, W // 2), nn.Linear(W // 2, 3)

    def forward(self, points, views):
        h = points
        for i, layer in enumerate(self.pts_linears):
            h = F.relu(layer(h))
            if i == self.skip:
                h = torch.cat([points, h], -1)
        rgb = self.rgb_linear(F.relu(self.views_linear(torch.cat([self.feature_linear(h), views], -1))))
        return torch.cat([rgb, self.alpha_linear(h)], -1)


def raw2outputs(raw, z_vals):
    dists = torch.cat([z_vals[..., 1:] - z_vals[..., :-1], torch.full_like(z_vals[..., :1], 1e10)], -1)
    alpha = 1.0 - torch.exp(-F.relu(raw[..., 3]) * dists)
    ones = torch.ones_like(alpha[..., :1])
    weights = alpha * torch.cumprod(torch.cat([ones, 1.0 - alpha + 1e-10], -1), -1)[..., :-1]
    return torch.sum(weights[..., None] * torch.sigmoid(raw[..., :3]), -2), weights


def sample(net, rays_o, rays_d, z_vals):
    points = rays_o[:, None] + rays_d[:, None] * z_vals[..., None]
    views = F.normalize(rays_d, dim=-1)[:, None].expand_as(points)
    raw = net(encode(points, 10), encode(views, 4))
    return raw2outputs(raw, z_vals)


def sample_pdf(z_vals, weights, n):
    cdf = torch.cumsum(weights / (weights.sum(-1, keepdim=True) + 1e-5), -1)
    u = torch.rand(weights.size(0), n, device=weights.device)
    at = torch.searchsorted(cdf.contiguous(), u.contiguous(), right=True).clamp(max=z_vals.size(1) - 1)
    return torch.sort(torch.cat([z_vals, z_vals.gather(1, at)], -1), -1)[0]


def render_rays(coarse, fine, rays, n_samples=32, n_importance=32):
    rays_o, rays_d = rays[:, :3], rays[:, 3:]
    z_vals = torch.linspace(2.0, 6.0, n_samples, device=rays.device).expand(rays.size(0), n_samples)
    rgb0, weights = sample(coarse, rays_o, rays_d, z_vals)
    z_vals = sample_pdf(z_vals, weights.detach(), n_importance)
    rgb, _ = sample(fine, rays_o, rays_d, z_vals)
    return rgb, rgb0


def render_image(run, coarse, fine, rays, chunk=1024):
    with torch.no_grad():
        return torch.cat([render_rays(coarse, fine, part.to(run.device))[0] for part in rays.split(chunk)], 0)


def main(run):
    coarse, fine = NeRF().to(run.device), NeRF().to(run.device)
    optimizer = torch.optim.Adam([*coarse.parameters(), *fine.parameters()], lr=5e-4, betas=(0.9, 0.999))
    psnrs = []
    for i in range(6):
        with run.step():
            rays, target = run.values(1024, 6).to(run.device), run.values(1024, 3).to(run.device)
            rgb, rgb0 = render_rays(coarse, fine, rays)
            optimizer.zero_grad()
            img_loss = F.mse_loss(rgb, target)
            loss = img_loss + F.mse_loss(rgb0, target)
            loss.backward()
            optimizer.step()
            psnrs.append(img_loss.item())
            for group in optimizer.param_groups:
                group["lr"] = 5e-4 * 0.1 ** (i / 250)
        if i % 3 == 2:
            with run.other_pass():
                render_image(run, coarse, fine, run.values(4000, 6)).cpu()
    run.snapshot()
