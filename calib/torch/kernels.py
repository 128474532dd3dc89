"""The call behind each point: a function of no arguments, and whether it is to be a CUDA graph."""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

BF16, FP32 = torch.bfloat16, torch.float32
TYPES = {"bf16": BF16, "fp16": torch.float16, "fp32": FP32}
BACKENDS = {"flash2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
STREAMS = 4  # of Transformer Engine's products of experts


def random(*shape, dtype=BF16):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def attention(p):
    def heads(count):
        shape = (p["batch"], p["sequence"], count, p["head_dim"])
        return random(*shape).transpose(1, 2).requires_grad_()

    query, key, value = heads(p["heads"]), heads(p["kv_heads"]), heads(p["kv_heads"])

    def forward():
        with sdpa_kernel(BACKENDS[p["kernel"]]):
            return F.scaled_dot_product_attention(query, key, value, is_causal=p["causal"] == "true",
                                                  enable_gqa=p["heads"] != p["kv_heads"])

    if p["pass"] == "forward":
        return forward, False
    output = forward()
    gradient = torch.randn_like(output)
    return (lambda: torch.autograd.grad(output, (query, key, value), gradient, retain_graph=True)), False


def convolution(p):
    def images(batch, channels, side):
        tensor = random(batch, channels, side, side, dtype=TYPES[p["dtype"]])
        return tensor.to(memory_format=torch.channels_last)

    x = images(p["batch"], p["channels"], p["height"])
    w = images(p["filters"], p["channels"], p["filter_height"])
    stride, pad = p["stride"], p["pad"]
    if p["pass"] == "forward":
        return (lambda: F.conv2d(x, w, None, stride, pad)), False
    gradient = torch.randn_like(F.conv2d(x, w, None, stride, pad))
    wanted = [p["pass"] == "input_gradient", p["pass"] == "weight_gradient", False]
    return (lambda: torch.ops.aten.convolution_backward(
        gradient, x, w, None, [stride, stride], [pad, pad], [1, 1], False, [0, 0], 1, wanted)), False


def fp8(p):
    x, w = random(p["tokens"], p["in"]), random(p["out"], p["in"])
    x, w = ((t.clamp(-4, 4) * 50).to(torch.float8_e4m3fn) for t in (x, w))
    rows, columns = (p["tokens"], p["out"]) if p["dtype"] == "fp8_rowwise" else (1, 1)
    scale_x, scale_w = torch.rand(rows, 1, device="cuda"), torch.rand(1, columns, device="cuda")
    if p["dtype"] != "fp8_rowwise":
        scale_x, scale_w = scale_x[0, 0], scale_w[0, 0]
    fast = p["dtype"] != "fp8_split_accumulator"
    return lambda: torch._scaled_mm(x, w.t(), scale_a=scale_x, scale_b=scale_w, out_dtype=BF16,
                                    use_fast_accum=fast)


def products(p):
    if p["dtype"].startswith("fp8"):
        return fp8(p), False
    x, w, g = (random(p["tokens"], p["in"]), random(p["out"], p["in"]),
               random(p["tokens"], p["out"]))
    if p["pass"] == "forward":
        return (lambda: torch.mm(x, w.t())), False
    if p["pass"] == "input_gradient":
        return (lambda: torch.mm(g, w)), False
    if p["accumulate"] == "no":
        return (lambda: torch.mm(g.t(), x)), False
    return (lambda: torch.addmm(w, g.t(), x, out=w)), False


def experts(p):
    count, rows = p["experts"], p["rows"]
    x, w, g = (random(count, rows, p["in"]), random(count, p["out"], p["in"]),
               random(count, rows, p["out"]))
    if p["way"] == "one_kernel":
        ends = torch.arange(1, count + 1, device="cuda", dtype=torch.int32) * rows
        flat_x, flat_g = x.flatten(0, 1), g.flatten(0, 1)
        return {
            "forward": lambda: torch._grouped_mm(flat_x, w.transpose(1, 2), offs=ends),
            "input_gradient": lambda: torch._grouped_mm(flat_g, w, offs=ends),
            "weight_gradient": lambda: torch._grouped_mm(flat_g.t(), flat_x, offs=ends),
        }[p["pass"]], False
    one = {
        "forward": lambda i: torch.mm(x[i], w[i].t(), out=g[i]),
        "input_gradient": lambda i: torch.mm(g[i], w[i], out=x[i]),
        "weight_gradient": lambda i: torch.mm(g[i].t(), x[i], out=w[i]),
    }[p["pass"]]
    if p["way"] == "one_by_one":
        return (lambda: [one(i) for i in range(count)]), True
    streams = [torch.cuda.Stream() for _ in range(STREAMS)]

    def on_streams():
        main = torch.cuda.current_stream()
        for stream in streams:
            stream.wait_stream(main)
        for i in range(count):
            with torch.cuda.stream(streams[i % STREAMS]):
                one(i)
        for stream in streams:
            main.wait_stream(stream)

    return on_streams, True


def adam(p):
    matrices = p["rows"] // p["columns"]
    side = p["columns"]
    weights = [torch.nn.Parameter(random(side, side, dtype=TYPES[p["dtype"]])) for _ in range(matrices)]
    for weight in weights:
        weight.grad = torch.randn_like(weight)
    fused = p["op"] == "adam"
    optimizer = torch.optim.AdamW(weights, lr=1e-4, fused=fused, foreach=not fused)
    optimizer.step()
    return optimizer.step


def memory(p):
    if p["op"].startswith("adam"):
        return adam(p), False
    dtype, rows, columns = TYPES[p["dtype"]], p["rows"], p["columns"]
    x, y, g = (random(rows, columns, dtype=dtype) for _ in range(3))
    weight, bias = random(columns, dtype=dtype), random(columns, dtype=dtype)
    places = torch.randperm(rows, device="cuda")
    aten, shape = torch.ops.aten, (columns,)
    if p["op"] == "layer_norm_backward":
        _, mean, deviation = torch.native_layer_norm(x, shape, weight, bias, 1e-5)
        return (lambda: aten.native_layer_norm_backward(g, x, shape, mean, deviation, weight, bias,
                                                        [True] * 3)), False
    if p["op"] == "rms_norm_backward":
        x.requires_grad_(), weight.requires_grad_()
        output = F.rms_norm(x, shape, weight, 1e-5)
        return (lambda: torch.autograd.grad(output, (x, weight), g, retain_graph=True)), False
    return {
        "copy": lambda: y.copy_(x),
        "add": lambda: torch.add(x, g, out=y),
        "gelu": lambda: F.gelu(x),
        "gelu_backward": lambda: aten.gelu_backward(g, x),
        "silu": lambda: F.silu(x),
        "layer_norm": lambda: torch.native_layer_norm(x, shape, weight, bias, 1e-5),
        "rms_norm": lambda: F.rms_norm(x, shape, weight, 1e-5),
        "softmax": lambda: torch.softmax(x, -1),
        "softmax_backward": lambda: torch._softmax_backward_data(g, y, -1, dtype),
        "dropout": lambda: torch.native_dropout(x, 0.1, True),
        "sum_rows": lambda: x.sum(0),
        "cast": lambda: x.to(FP32 if dtype == BF16 else BF16),
        "transpose": lambda: x.t().contiguous(),
        "gather_rows": lambda: x.index_select(0, places),
        "index_add": lambda: y.index_add_(0, places, x),
    }[p["op"]], False
