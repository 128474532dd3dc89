"""Whole layers as frameworks write them, on tensors of a few numbers: they check the sum of parts.

Dropout is a product and GELU a tanh here, because those of the CPU do more than launch a kernel.
"""

import torch

from parts import PARAMETERS, TRACKER, Through, parameter, tensor

HIDDEN, HEADS, TOKENS, BATCH = 4, 2, 2, 1


class NormFunction(torch.autograd.Function):
    """As Apex's FusedLayerNormAffineFunction: one kernel forward, one call backward."""

    @staticmethod
    def forward(ctx, x, scale, shift):
        output, mean, deviation = torch.native_layer_norm(x.contiguous(), (HIDDEN,), scale, shift,
                                                          1e-5)
        ctx.save_for_backward(x, scale, shift, mean, deviation)
        return output

    @staticmethod
    def backward(ctx, gradient):
        x, scale, shift, mean, deviation = ctx.saved_tensors
        return torch.ops.aten.native_layer_norm_backward(
            gradient.contiguous(), x, (HIDDEN,), mean, deviation, scale, shift, [True, True, True])


class LinearFunction(torch.autograd.Function):
    """As LinearWithGradAccumulationAndAsyncCommunication (core/tensor_parallel/layers.py)."""

    @staticmethod
    def forward(ctx, x, w, bias):
        ctx.save_for_backward(x, w)
        ctx.use_bias = bias is not None
        output = torch.matmul(x, w.t())
        return output if bias is None else output + bias

    @staticmethod
    def backward(ctx, gradient):
        x, w = ctx.saved_tensors
        x_gradient = gradient.matmul(w)
        gradient = gradient.contiguous()
        gradient = gradient.view(gradient.shape[0] * gradient.shape[1], gradient.shape[2])
        x = x.view(x.shape[0] * x.shape[1], x.shape[2])
        w_gradient = gradient.t().matmul(x)
        return x_gradient, w_gradient, gradient.sum(dim=0) if ctx.use_bias else None


class SoftmaxFunction(torch.autograd.Function):
    """As ScaledUpperTriangMaskedSoftmax (megatron/model/fused_softmax.py)."""

    @staticmethod
    def forward(ctx, x, scale):
        output = torch.softmax(x, -1)
        ctx.save_for_backward(output, torch.tensor([scale]))
        return output

    @staticmethod
    def backward(ctx, gradient):
        output, scale = ctx.saved_tensors
        return torch._softmax_backward_data(gradient, output, -1, output.dtype), None


class GeluFunction(torch.autograd.Function):
    """As megatron/model/fused_bias_gelu.py."""

    @staticmethod
    def forward(ctx, x, bias):
        ctx.save_for_backward(x, bias)
        return fused_forward(x)

    @staticmethod
    def backward(ctx, gradient):
        x, bias = ctx.saved_tensors
        both = fused_backward(gradient, x)
        return both, both.sum((0, 1))


@torch.jit.script
def fused_forward(x):
    return torch.tanh(x)


@torch.jit.script
def fused_backward(gradient, x):
    return gradient * x


@torch.jit.script
def fused_residual(x, residual):
    return x + residual


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = parameter(HIDDEN), parameter(HIDDEN)

    def forward(self, x):
        return NormFunction.apply(x, self.weight, self.bias)


class Column(torch.nn.Module):
    """ColumnParallelLinear without sequence parallelism."""

    def __init__(self, inputs, outputs, skip_bias_add):
        super().__init__()
        self.weight, self.bias = parameter(outputs, inputs), parameter(outputs)
        self.skip_bias_add = skip_bias_add
        self.gather_output = False

    def forward(self, x):
        bias = self.bias if not self.skip_bias_add else None
        x = Through.apply(x)
        output = LinearFunction.apply(x, self.weight, bias)
        if self.gather_output:
            raise ValueError("not here")
        return output, self.bias if self.skip_bias_add else None


class Row(torch.nn.Module):
    """RowParallelLinear; the collective of its reduction is a part of its own."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight, self.bias = parameter(outputs, inputs), parameter(outputs)
        self.input_is_parallel, self.skip_bias_add = True, True

    def forward(self, x):
        if not self.input_is_parallel:
            raise ValueError("not here")
        output = Through.apply(LinearFunction.apply(x, self.weight, None))
        return output, self.bias if self.skip_bias_add else None


class Softmax(torch.nn.Module):
    """FusedScaleMaskSoftmax by its kernel."""

    def __init__(self):
        super().__init__()
        self.scale, self.fusion = 1.0, True

    def forward(self, scores):
        batch, heads, queries, keys = scores.size()
        if not self.fusion or queries > 16384:
            raise ValueError("not here")
        flat = scores.view(-1, queries, keys)
        return SoftmaxFunction.apply(flat, self.scale).view(batch, heads, queries, keys)


class Dropout(torch.nn.Module):
    def __init__(self, *shape):
        super().__init__()
        self.kept = tensor(*shape)

    def forward(self, x):
        return x * self.kept


class CoreAttention(torch.nn.Module):
    """CoreAttention of megatron/model/transformer.py."""

    def __init__(self):
        super().__init__()
        self.softmax, self.dropout = Softmax(), Dropout(TOKENS, TOKENS)
        self.buffer = tensor(BATCH * HEADS, TOKENS, TOKENS)
        self.norm_factor = 2.0

    def forward(self, query, key, value):
        size = query.size(1), query.size(2), query.size(0), key.size(0)
        query = query.reshape(size[2], size[0] * size[1], -1)
        key = key.reshape(size[3], size[0] * size[1], -1)
        scores = torch.baddbmm(self.buffer, query.transpose(0, 1),
                               key.transpose(0, 1).transpose(1, 2), beta=0.0,
                               alpha=1.0 / self.norm_factor)
        probabilities = self.softmax(scores.view(*size))
        with TRACKER.fork():
            probabilities = self.dropout(probabilities)
        size = value.size(1), value.size(2), query.size(0), value.size(3)
        value = value.reshape(value.size(0), size[0] * size[1], -1)
        probabilities = probabilities.view(size[0] * size[1], size[2], -1)
        context = torch.bmm(probabilities, value.transpose(0, 1)).view(*size)
        context = context.permute(2, 0, 1, 3).contiguous()
        return context.view(*(context.size()[:-2] + (HIDDEN,)))


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query_key_value = Column(HIDDEN, 3 * HIDDEN, False)
        self.core_attention = CoreAttention()
        self.dense = Row(HIDDEN, HIDDEN)

    def forward(self, x):
        mixed, _ = self.query_key_value(x)
        mixed = mixed.view(*(mixed.size()[:-1] + (HEADS, 3 * HIDDEN // HEADS)))
        query, key, value = torch.split(mixed, HIDDEN // HEADS, dim=3)
        return self.dense(self.core_attention(query, key, value))


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = Column(HIDDEN, 4 * HIDDEN, True), Row(4 * HIDDEN, HIDDEN)

    def forward(self, x):
        x, bias = self.up(x)
        return self.down(GeluFunction.apply(x, bias))


class MegatronLayer(torch.nn.Module):
    """ParallelTransformerLayer of NVIDIA/Megatron-LM@b35d061 megatron/model/transformer.py, with
    its fusions, as GPT has it."""

    def __init__(self):
        super().__init__()
        self.input_norm, self.attention = Norm(), Attention()
        self.post_norm, self.mlp = Norm(), Mlp()

    def forward(self, x):
        y, bias = self.attention(self.input_norm(x))
        bias = bias.expand_as(x)
        with torch.enable_grad():
            x = fused_residual(y + bias, x)
        y, bias = self.mlp(self.post_norm(x))
        with torch.enable_grad():
            return fused_residual(y + bias.expand_as(x), x)


class BertAttention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = linear(HIDDEN), linear(HIDDEN), linear(HIDDEN)
        self.dropout, self.softmax = Dropout(TOKENS, TOKENS), torch.nn.Softmax(dim=-1)
        self.scale = 2.0

    def heads(self, x, *order):
        return x.view(*(x.size()[:-1] + (HEADS, HIDDEN // HEADS))).permute(*order)

    def forward(self, x, mask):
        query, key, value = self.query(x), self.key(x), self.value(x)
        query = self.heads(query, 0, 2, 1, 3)
        key = self.heads(key, 0, 2, 3, 1)
        value = self.heads(value, 0, 2, 1, 3)
        scores = torch.matmul(query, key) / self.scale
        probabilities = self.dropout(self.softmax(scores + mask))
        context = torch.matmul(probabilities, value).permute(0, 2, 1, 3).contiguous()
        return context.view(*(context.size()[:-2] + (HIDDEN,)))


class BertOutput(torch.nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.dense, self.norm = linear(inputs), own(torch.nn.LayerNorm(HIDDEN))
        self.dropout = Dropout(HIDDEN)

    def forward(self, x, residual):
        return self.norm(self.dropout(self.dense(x)) + residual)


class BertIntermediate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = linear(HIDDEN, 4 * HIDDEN)

    def forward(self, x):
        return fused_forward(self.dense(x))


class BertLayer(torch.nn.Module):
    """That of NVIDIA/DeepLearningExamples@70c51ad PyTorch/LanguageModeling/BERT/modeling.py."""

    def __init__(self):
        super().__init__()
        self.attention, self.attended = BertAttention(), BertOutput(HIDDEN)
        self.intermediate, self.output = BertIntermediate(), BertOutput(4 * HIDDEN)
        self.mask = tensor(BATCH, 1, 1, TOKENS)

    def forward(self, x):
        attended = self.attended(self.attention(x, self.mask), x)
        return self.output(self.intermediate(attended), attended)


def own(module):
    PARAMETERS.extend(module.parameters())
    return module


def linear(inputs, outputs=HIDDEN):
    return own(torch.nn.Linear(inputs, outputs))


class Bottleneck(torch.nn.Module):
    """That of pytorch/vision torchvision/models/resnet.py, without a change of shape."""

    def __init__(self):
        super().__init__()
        for number in (1, 2, 3):
            setattr(self, f"conv{number}", own(torch.nn.Conv2d(HIDDEN, HIDDEN, 1, bias=False)))
            setattr(self, f"bn{number}", own(torch.nn.BatchNorm2d(HIDDEN)))
        self.relu = torch.nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x
        return self.relu(y)


FUNCTIONS = (NormFunction, LinearFunction, SoftmaxFunction, GeluFunction, Through)

# A layer, the shape that it maps to itself, and its calls that counts.py does not see.
LAYERS = {
    "Megatron-LM layer": (MegatronLayer, (TOKENS, BATCH, HIDDEN), {"scripted": 3, "fork": 1}),
    "BERT layer": (BertLayer, (BATCH, TOKENS, HIDDEN), {"scripted": 1}),
    "ResNet bottleneck": (Bottleneck, (2, HIDDEN, 2, 2), {}),
}
