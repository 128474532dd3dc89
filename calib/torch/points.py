"""What measure_kernels.py measures: points of each family, as dictionaries of a table's columns."""

FAMILIES = ["attention", "convolution", "products", "experts", "memory"]

# Families whose tables `stepsim calibrate fit` reads.
SCHEMA = ["attention", "convolution"]

# Families that are timed for a tenth of the time, as a short benchmark at the GPU's highest clock:
# a profile's factors are of such, and `sustained` comes on top of them.
SHORT = ["convolution"]

TOKENS = 16384  # of attention, whatever the sequence

# Tokens, outputs and inputs of linear layers: Llama, GPT-3, GPT-2, heads, parts of tensor ranks.
PRODUCTS = [
    (4096, 12288, 4096), (4096, 4096, 4096), (4096, 22016, 4096), (4096, 4096, 11008),
    (8192, 6144, 4096), (8192, 4096, 4096), (8192, 28672, 4096), (8192, 4096, 14336),
    (8192, 10240, 8192), (8192, 8192, 8192), (8192, 57344, 8192), (8192, 8192, 28672),
    (4096, 36864, 12288), (4096, 12288, 12288), (4096, 49152, 12288), (4096, 12288, 49152),
    (8192, 3072, 1024), (8192, 4096, 1024), (16384, 2304, 768), (16384, 768, 3072),
    (8192, 128256, 4096), (16384, 50257, 1024), (16384, 50304, 1024), (8192, 1280, 8192),
    (8192, 7168, 8192), (8192, 8192, 3584), (8192, 8192, 1024), (2048, 8192, 8192),
    (32768, 4096, 4096)]

# Experts, rows of each, inputs and outputs: Mixtral, Qwen3 30B, DeepSeek-V3, GPT-OSS and others.
EXPERTS = [
    (8, 4096, 4096, 28672), (8, 4096, 14336, 4096), (8, 1024, 4096, 28672), (8, 1024, 14336, 4096),
    (16, 4096, 2048, 1536), (16, 4096, 768, 2048), (128, 512, 2048, 1536), (128, 512, 768, 2048),
    (8, 2048, 7168, 4096), (8, 2048, 2048, 7168), (32, 512, 7168, 4096), (32, 512, 2048, 7168),
    (40, 616, 5120, 3072), (40, 616, 1536, 5120), (20, 1232, 5120, 3072), (20, 1232, 1536, 5120),
    (64, 1024, 2048, 2816), (64, 1024, 1408, 2048), (32, 2048, 2880, 5760), (32, 2048, 2880, 2880)]

PASSES = ["forward", "input_gradient", "weight_gradient"]

MEMORY = ["copy", "add", "gelu", "gelu_backward", "silu", "layer_norm", "layer_norm_backward",
          "rms_norm", "rms_norm_backward", "softmax", "softmax_backward", "dropout", "sum_rows", "cast",
          "transpose", "gather_rows", "index_add"]


def attention():
    heads = [(32, 32, 128), (16, 16, 64), (32, 8, 128)]
    for kernel in ("flash2", "cudnn"):
        for causal in ("true", "false"):
            for sequence in (1024, 2048, 4096, 8192, 16384, 32768):
                for count, kv, width in heads if causal == "true" else heads[:2]:
                    for way in ("forward", "backward"):
                        yield {"kernel": kernel, "dtype": "bf16", "pass": way, "causal": causal,
                               "batch": max(1, TOKENS // sequence), "heads": count, "kv_heads": kv,
                               "sequence": sequence, "head_dim": width}


def resnet50_layers():
    """Channels, pixels of a side, filters, side of a filter, stride: each kind once."""
    seen = [(3, 224, 64, 7, 2)]
    wide, pixels = 64, 56
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            layers = [(wide, pixels, width, 1, 1), (width, pixels, width, 3, stride),
                      (width, pixels // stride, 4 * width, 1, 1)]
            if block == 0:
                layers.append((wide, pixels, 4 * width, 1, stride))
            seen += layers
            wide, pixels = 4 * width, pixels // stride
    return list(dict.fromkeys(seen))


def convolution():
    for channels, pixels, filters, side, stride in resnet50_layers():
        for way in PASSES:
            if channels > 3 or way != "input_gradient":
                yield {"dtype": "fp16", "pass": way, "batch": 128, "channels": channels,
                       "height": pixels, "filters": filters, "filter_height": side,
                       "stride": stride, "pad": side // 2}


def products():
    for tokens, out, wide in PRODUCTS:
        for way in PASSES:
            yield {"dtype": "bf16", "pass": way, "accumulate": "no", "tokens": tokens, "out": out,
                   "in": wide}
        yield {"dtype": "bf16", "pass": "weight_gradient", "accumulate": "yes", "tokens": tokens,
               "out": out, "in": wide}
        if out % 16 == 0:
            for scales in ("fp8", "fp8_rowwise", "fp8_split_accumulator"):
                yield {"dtype": scales, "pass": "forward", "accumulate": "no", "tokens": tokens,
                       "out": out, "in": wide}


def experts():
    for count, rows, wide, out in EXPERTS:
        for way in ("one_kernel", "one_by_one", "four_streams"):
            for product in PASSES if way != "four_streams" else PASSES[:1]:
                yield {"way": way, "pass": product, "experts": count, "rows": rows, "in": wide,
                       "out": out}


def memory():
    for dtype in ("bf16", "fp32"):
        for rows, columns in ((8192, 4096), (16384, 8192), (16384, 1024)):
            for op in MEMORY:
                yield {"op": op, "dtype": dtype, "rows": rows, "columns": columns}
        yield {"op": "adam", "dtype": dtype, "rows": 24 * 4096, "columns": 4096}
        yield {"op": "adam_foreach", "dtype": dtype, "rows": 24 * 4096, "columns": 4096}


def of(family):
    return list(globals()[family]())


def columns(family):
    return list(of(family)[0])
