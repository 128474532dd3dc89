"""The models as PyTorch modules, in PyTorch's own operations."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

from model_file import ResNet


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-5)


def norm_of(m):
    return RmsNorm(m.hidden) if m.rms_norm else nn.LayerNorm(m.hidden)


def rotated(x, angles):
    """Su et al. 2021, arXiv 2104.09864, equation 34, halves instead of neighbours as in Llama."""
    cosine, sine = angles
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cosine - right * sine, right * cosine + left * sine], dim=-1)


class Attention(nn.Module):
    def __init__(self, m, causal, kernel):
        super().__init__()
        self.m, self.causal = m, causal
        self.backend = SDPBackend.FLASH_ATTENTION if kernel == "flash2" else SDPBackend.MATH
        self.qkv = nn.Linear(m.hidden, (m.heads + 2 * m.kv_heads) * m.head_dim,
                             bias=m.bias or m.qkv_bias)
        self.out = nn.Linear(m.heads * m.head_dim, m.hidden, bias=m.bias)

    def forward(self, x, angles):
        m, (batch, tokens, _) = self.m, x.shape
        heads = self.qkv(x).view(batch, tokens, -1, m.head_dim).transpose(1, 2)
        q, k, v = heads.split([m.heads, m.kv_heads, m.kv_heads], dim=1)
        if angles is not None:
            q, k = rotated(q, angles), rotated(k, angles)
        if m.kv_heads < m.heads:
            k = k.repeat_interleave(m.heads // m.kv_heads, dim=1)
            v = v.repeat_interleave(m.heads // m.kv_heads, dim=1)
        with sdpa_kernel(self.backend):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, tokens, -1))


class Mlp(nn.Module):
    def __init__(self, m):
        super().__init__()
        self.gated = m.gated_mlp
        self.up = nn.Linear(m.hidden, m.ffn, bias=m.bias)
        self.gate = nn.Linear(m.hidden, m.ffn, bias=m.bias) if m.gated_mlp else None
        self.down = nn.Linear(m.ffn, m.hidden, bias=m.bias)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x) if self.gated else F.gelu(self.up(x)))


class Layer(nn.Module):
    def __init__(self, m, causal, kernel):
        super().__init__()
        self.before, self.attention = norm_of(m), Attention(m, causal, kernel)
        self.between, self.mlp = norm_of(m), Mlp(m)

    def forward(self, x, angles):
        x = x + self.attention(self.before(x), angles)
        return x + self.mlp(self.between(x))


class Stack(nn.Module):
    """Layers, each run again in the backward pass where that is wanted."""

    def __init__(self, m, causal, kernel, recompute):
        super().__init__()
        self.layers = nn.ModuleList(Layer(m, causal, kernel) for _ in range(m.layers))
        self.norm, self.recompute = norm_of(m), recompute

    def forward(self, x, angles=None):
        for layer in self.layers:
            x = (checkpoint(layer, x, angles, use_reentrant=False) if self.recompute
                 else layer(x, angles))
        return self.norm(x)


class LanguageModel(nn.Module):
    """GPT and Llama."""

    def __init__(self, m, kernel, recompute):
        super().__init__()
        self.m = m
        self.embedding = nn.Embedding(m.vocabulary, m.hidden)
        self.positions = nn.Embedding(m.positions, m.hidden) if m.positions else None
        self.stack = Stack(m, True, kernel, recompute)
        self.head = nn.Linear(m.hidden, m.vocabulary, bias=False)
        if m.tied_embeddings:
            self.head.weight = self.embedding.weight

    def angles(self, x):
        places = torch.arange(x.shape[1], device=x.device)
        rates = 10000.0 ** (-torch.arange(0, self.m.head_dim, 2, device=x.device) / self.m.head_dim)
        angles = places[:, None] * rates[None, :]
        return angles.cos().to(x.dtype), angles.sin().to(x.dtype)

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
            logits = self.head(self.stack(x))
        else:
            logits = self.head(self.stack(x, self.angles(x)))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


class VisionTransformer(nn.Module):
    def __init__(self, m, kernel, recompute):
        super().__init__()
        v = m.vision
        self.patches = nn.Conv2d(v.channels, m.hidden, v.patch, v.patch)
        self.class_token = nn.Parameter(torch.zeros(1, 1, m.hidden))
        self.positions = nn.Parameter(torch.zeros(1, v.tokens(), m.hidden))
        self.stack = Stack(m, False, kernel, recompute)
        self.head = nn.Linear(m.hidden, v.classes)

    def forward(self, images, targets):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        return F.cross_entropy(self.head(self.stack(x)[:, 0]).float(), targets)


class Bottleneck(nn.Module):
    """He et al. 2015, figure 5, with the stride in the 3x3 convolution (ResNet v1.5)."""

    def __init__(self, wide, width, stride, shortcut):
        super().__init__()

        def part(wide, out, edge, stride):
            return nn.Sequential(nn.Conv2d(wide, out, edge, stride, edge // 2, bias=False),
                                 nn.BatchNorm2d(out))

        self.reduce, self.middle = part(wide, width, 1, 1), part(width, width, 3, stride)
        self.expand = part(width, 4 * width, 1, 1)
        self.shortcut = part(wide, 4 * width, 1, stride) if shortcut else nn.Identity()

    def forward(self, x):
        y = F.relu(self.reduce(x), inplace=True)
        y = self.expand(F.relu(self.middle(y), inplace=True))
        return F.relu(y + self.shortcut(x), inplace=True)


class ResidualNet(nn.Module):
    def __init__(self, m):
        super().__init__()
        stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                nn.MaxPool2d(3, 2, 1)]
        blocks, wide = [], 64
        for stage, count in enumerate(m.blocks):
            width = 64 << stage
            for block in range(count):
                first = block == 0
                blocks.append(Bottleneck(wide, width, 2 if first and stage > 0 else 1, first))
                wide = 4 * width
        self.body = nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(wide, m.classes)

    def forward(self, images, targets):
        return F.cross_entropy(self.head(self.body(images)).float(), targets)


def build(model, kernel, recompute):
    if isinstance(model, ResNet):
        return ResidualNet(model)
    if model.vision:
        return VisionTransformer(model, kernel, recompute)
    return LanguageModel(model, kernel, recompute)


def blocks_of(network):
    """What FSDP shards as a unit."""
    return [module for module in network.modules() if isinstance(module, (Layer, Bottleneck))]


def samples(model, batch, sequence, device):
    """Random numbers that stay on the GPU: input is never waited for."""
    if isinstance(model, ResNet) or model.vision:
        image, classes = ((model.image, model.classes) if isinstance(model, ResNet)
                          else (model.vision.image, model.vision.classes))
        return (torch.randn(batch, 3, image, image, device=device),
                torch.randint(classes, (batch,), device=device))
    tokens = torch.randint(model.vocabulary, (batch, sequence + 1), device=device)
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
