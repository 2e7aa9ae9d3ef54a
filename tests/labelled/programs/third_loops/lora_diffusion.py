"""Low-rank training of a text-to-image model: VAE, text encoder and U-Net are frozen in 16 bit, the updates are in 32.

Latents and words are encoded under no_grad; the U-Net runs under autocast and needs its graph for the updates alone.
"""
import torch
import torch.nn.functional as F
from torch import nn

BATCH = 2


class LoRALinear(nn.Module):
    def __init__(self, base, r=8):
        super().__init__()
        self.base = base
        self.lora_A = nn.Linear(base.in_features, r, bias=False, device=base.weight.device)
        self.lora_B = nn.Linear(r, base.out_features, bias=False, device=base.weight.device)

    def forward(self, x):
        return self.base(x) + self.lora_B(self.lora_A(x))


class CrossAttention(nn.Module):
    def __init__(self, dim, context, heads=8):
        super().__init__()
        self.heads = heads
        self.to_q, self.to_k = nn.Linear(dim, dim, bias=False), nn.Linear(context, dim, bias=False)
        self.to_v, self.to_out = nn.Linear(context, dim, bias=False), nn.Linear(dim, dim)

    def forward(self, x, context):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for t in (self.to_q(x), self.to_k(context), self.to_v(context)))
        return self.to_out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class TransformerBlock(nn.Module):
    def __init__(self, dim, context):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn1, self.attn2 = CrossAttention(dim, dim), CrossAttention(dim, context)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, context):
        b, c, h, w = x.shape
        y = x.flatten(2).transpose(1, 2)
        z = self.norm1(y)
        y = y + self.attn1(z, z)
        y = y + self.attn2(self.norm2(y), context)
        y = y + self.ff(self.norm3(y))
        return x + y.transpose(1, 2).reshape(b, c, h, w)


class ResnetBlock2D(nn.Module):
    def __init__(self, cin, cout, temb):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(16, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.time_emb_proj = nn.Linear(temb, cout)
        self.norm2, self.conv2 = nn.GroupNorm(16, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.shortcut = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, temb):
        h = self.conv1(F.silu(self.norm1(x))) + self.time_emb_proj(F.silu(temb))[:, :, None, None]
        return self.shortcut(x) + self.conv2(F.silu(self.norm2(h)))


class UNet2DCondition(nn.Module):
    def __init__(self, ch=192, context=512):
        super().__init__()
        self.time_embedding = nn.Sequential(nn.Linear(1, 4 * ch), nn.SiLU(), nn.Linear(4 * ch, 4 * ch))
        self.conv_in, self.conv_out = nn.Conv2d(4, ch, 3, padding=1), nn.Conv2d(ch, 4, 3, padding=1)
        self.down = nn.ModuleList(ResnetBlock2D(a, b, 4 * ch) for a, b in ((ch, ch), (ch, 2 * ch)))
        self.down_attn = nn.ModuleList(TransformerBlock(c, context) for c in (ch, 2 * ch))
        self.mid = ResnetBlock2D(2 * ch, 2 * ch, 4 * ch)
        self.up = nn.ModuleList(ResnetBlock2D(a, b, 4 * ch) for a, b in ((4 * ch, 2 * ch), (3 * ch, ch)))
        self.up_attn = nn.ModuleList(TransformerBlock(c, context) for c in (2 * ch, ch))

    def forward(self, x, t, context):
        temb, x, skips = self.time_embedding(t[:, None]), self.conv_in(x), []
        for res, attn in zip(self.down, self.down_attn):
            x = attn(res(x, temb), context)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.mid(x, temb)
        for res, attn in zip(self.up, self.up_attn):
            x = attn(res(torch.cat([F.interpolate(x, scale_factor=2.0), skips.pop()], 1), temb), context)
        return self.conv_out(x)


class VAEEncoder(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(3, 64, 3, padding=1), nn.SiLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.SiLU(),
                         nn.Conv2d(128, 256, 3, 2, 1), nn.SiLU(), nn.Conv2d(256, 4, 3, 2, 1))


class TextEncoder(nn.Module):
    def __init__(self, vocab=20000, dim=512):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(TransformerBlock1D(dim) for _ in range(6))

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return x


class TransformerBlock1D(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm1, self.norm2, self.attn = nn.LayerNorm(dim), nn.LayerNorm(dim), CrossAttention(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y)
        return x + self.mlp(self.norm2(x))


def add_adapters(unet):
    for module in unet.modules():
        if isinstance(module, CrossAttention):
            for name in ("to_q", "to_k", "to_v", "to_out"):
                setattr(module, name, LoRALinear(getattr(module, name)))
    return [p for p in unet.parameters() if p.requires_grad]


def main(run):
    weight_dtype = torch.float16
    vae, text_encoder, unet = VAEEncoder(), TextEncoder(), UNet2DCondition()
    for frozen in (vae, text_encoder, unet):
        frozen.requires_grad_(False)
        frozen.to(run.device, dtype=weight_dtype)
    lora_layers = add_adapters(unet)
    optimizer = torch.optim.AdamW(lora_layers, lr=1e-4, weight_decay=1e-2)
    alphas_cumprod = torch.linspace(1, 0, 1000).to(run.device)
    for step in range(5):
        with run.step():
            pixel_values = run.values(6, 3, 256, 256).to(run.device, dtype=weight_dtype)
            input_ids = run.tokens(6, 77).to(run.device)
            with torch.no_grad():
                latents = vae(pixel_values) * 0.18215
                encoder_hidden_states = text_encoder(input_ids)
            noise = torch.randn_like(latents)
            timesteps = torch.randint(0, 1000, (latents.size(0),), device=run.device)
            a = alphas_cumprod[timesteps].view(-1, 1, 1, 1).to(weight_dtype)
            noisy_latents = a.sqrt() * latents + (1 - a).sqrt() * noise
            with torch.autocast("cuda", dtype=weight_dtype):
                model_pred = unet(noisy_latents, timesteps.to(weight_dtype), encoder_hidden_states)
            loss = F.mse_loss(model_pred.float(), noise.float(), reduction="mean")
            loss.backward()
            torch.nn.utils.clip_grad_norm_(lora_layers, 1.0)
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
