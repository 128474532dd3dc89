"""Reads a model of models/NAME.yaml and counts its parameters, without PyTorch."""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "models"

# What networks.py builds; a model that says anything else is refused.
KNOWN = {
    "kind", "layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocabulary", "positions",
    "gated_mlp", "rms_norm", "bias", "qkv_bias", "tied_embeddings", "dropout", "vision", "blocks",
    "published_parameters", "source", "unpublished", "notes",
}


class WrongModel(Exception):
    """The model cannot be measured; the text says why."""


@dataclass(frozen=True)
class Vision:
    image: int = 224
    patch: int = 16
    channels: int = 3
    classes: int = 1000

    def tokens(self):
        return (self.image // self.patch) ** 2 + 1


@dataclass(frozen=True)
class Transformer:
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int
    positions: int
    gated_mlp: bool
    rms_norm: bool
    bias: bool
    qkv_bias: bool
    tied_embeddings: bool
    vision: Vision | None = None


@dataclass(frozen=True)
class ResNet:
    blocks: tuple = (3, 4, 6, 3)
    image: int = 224
    classes: int = 1000


def scalar(text):
    """A value of YAML's, as far as model files have them."""
    text = text.strip()
    if text.startswith("{") and text.endswith("}"):
        pairs = (pair.split(":", 1) for pair in text[1:-1].split(","))
        return {key.strip(): scalar(value) for key, value in pairs}
    if text.startswith("[") and text.endswith("]"):
        return [scalar(part) for part in text[1:-1].split(",")]
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?\d+", text) else text.strip('"')


def keys_of(text, name):
    keys = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = re.fullmatch(r"(\w+):\s*(\"[^\"]*\"|[^#]*?)\s*(#.*)?", line)
        if match is None:
            if keys and line.startswith((" ", "-")):
                continue  # the rest of notes
            raise WrongModel(f"{name}:{number}: cannot read '{line}'")
        keys[match[1]] = scalar(match[2])
    return keys


def model_of(keys, name, layers=None):
    """A Transformer or ResNet, with another number of layers where one is given."""
    unknown = sorted(set(keys) - KNOWN)
    if unknown:
        raise WrongModel(f"{name} has '{unknown[0]}', which measure_step.py cannot build; it builds "
                         "GPT, Llama, ViT and ResNet")
    if keys.get("kind", "transformer") == "resnet":
        if layers is not None:
            raise WrongModel(f"--layers: {name} has blocks, not layers")
        return ResNet(blocks=tuple(keys.get("blocks", [3, 4, 6, 3])))
    if keys.get("kind", "transformer") != "transformer":
        raise WrongModel(f"{name} is a {keys['kind']}; measure_step.py builds GPT, Llama, ViT and "
                         "ResNet")
    vision = Vision(**keys["vision"]) if "vision" in keys else None
    hidden, heads = keys["hidden"], keys["heads"]
    return Transformer(
        layers=keys["layers"] if layers is None else layers,
        hidden=hidden,
        heads=heads,
        kv_heads=keys.get("kv_heads", heads),
        head_dim=keys.get("head_dim", hidden // heads),
        ffn=keys.get("ffn", 4 * hidden),
        vocabulary=0 if vision else keys["vocabulary"],
        positions=keys.get("positions", vision.tokens() if vision else 0),
        gated_mlp=keys.get("gated_mlp", False),
        rms_norm=keys.get("rms_norm", False),
        bias=keys.get("bias", True),
        qkv_bias=keys.get("qkv_bias", False),
        tied_embeddings=keys.get("tied_embeddings", not vision),
        vision=vision,
    )


def load_model(name, layers=None, folder=MODELS):
    path = Path(folder) / f"{name}.yaml"
    if not path.exists():
        near = difflib.get_close_matches(name, sorted(p.stem for p in Path(folder).glob("*.yaml")), 1)
        raise WrongModel(f"no model '{name}' in {folder}"
                         + (f", did you mean '{near[0]}'?" if near else ""))
    return model_of(keys_of(path.read_text(), path.name), name, layers)


def parameters_of(model):
    """As networks.py builds it."""
    return resnet_parameters(model) if isinstance(model, ResNet) else transformer_parameters(model)


def transformer_parameters(m):
    def linear(wide, out, bias):
        return wide * out + (out if bias else 0)

    norm = m.hidden if m.rms_norm else 2 * m.hidden
    qkv = linear(m.hidden, (m.heads + 2 * m.kv_heads) * m.head_dim, m.bias or m.qkv_bias)
    attention = qkv + linear(m.heads * m.head_dim, m.hidden, m.bias)
    mlp = (2 if m.gated_mlp else 1) * linear(m.hidden, m.ffn, m.bias)
    mlp += linear(m.ffn, m.hidden, m.bias)
    count = m.layers * (attention + mlp + 2 * norm) + norm + m.positions * m.hidden
    if m.vision:
        pixels = m.vision.channels * m.vision.patch ** 2
        return (count + m.hidden + linear(pixels, m.hidden, True)
                + linear(m.hidden, m.vision.classes, True))
    return count + m.vocabulary * m.hidden * (1 if m.tied_embeddings else 2)


def resnet_parameters(m):
    def convolution(wide, out, edge):  # and its norm
        return wide * out * edge * edge + 2 * out

    count, wide = convolution(3, 64, 7), 64
    for stage, blocks in enumerate(m.blocks):
        width = 64 << stage
        for block in range(blocks):
            count += convolution(wide, width, 1) + convolution(width, width, 3)
            count += convolution(width, 4 * width, 1)
            count += convolution(wide, 4 * width, 1) if block == 0 else 0
            wide = 4 * width
    return count + (wide + 1) * m.classes
