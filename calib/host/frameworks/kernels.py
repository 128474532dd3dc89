"""Kernels of extensions, which return tensors of the right shape and compute nothing."""

import enum
import functools
import types

import torch

EMPTY, LIKE = torch.empty, torch.empty_like
calls = 0  # of kernels here, for what each takes is not the framework's


def counted(function):
    @functools.wraps(function)
    def run(*arguments, **named):
        global calls
        calls += 1
        return function(*arguments, **named)

    return run


def generic_gemm(a, a_transposed, b, b_transposed, out, _quantizer, _type, bias, *rest, **_):
    gradient = rest[3]
    if out is None:
        columns = a.shape[0] if a_transposed else a.shape[-1]
        rows = (b.shape[-1],) if b_transposed else tuple(b.shape[:-1])
        out = EMPTY(rows + (columns,), dtype=a.dtype)
    of_bias = EMPTY(b.shape[-1], dtype=a.dtype) if gradient and bias is not None else None
    return out, of_bias, None, None


def te_general_grouped_gemm(*arguments):
    return arguments[7]  # gradients of biases


def layernorm_fwd(x, *_):
    return LIKE(x), EMPTY(x.shape[0]), EMPTY(x.shape[0])


def rmsnorm_fwd(x, *_):
    return LIKE(x), None, EMPTY(x.shape[0])


def layernorm_bwd(gradient, x, _mean, _deviation, weight, *_):
    return LIKE(x), LIKE(weight), LIKE(weight)


def rmsnorm_bwd(gradient, x, _deviation, weight, *_):
    return LIKE(x), LIKE(weight)


def fused_attn_fwd(*arguments):
    queries, values = arguments[13], arguments[15]
    shape = tuple(queries.shape[:-1]) + (values.shape[-1],)
    return [EMPTY(shape, dtype=queries.dtype), EMPTY(4), EMPTY(2)]


def fused_attn_bwd(*arguments):
    heads = [x for x in arguments if isinstance(x, torch.Tensor) and x.dim() == 4]
    return [LIKE(heads[0]), LIKE(heads[1]), LIKE(heads[2]), None, None]


def fused_rope_forward(x, *_):
    return LIKE(x)


fused_rope_backward = fused_rope_forward


def fused_topk_with_score_function_fwd(logits, topk, *_):
    chosen = torch.zeros(logits.shape, dtype=torch.bool)
    chosen[:, :topk] = True
    return LIKE(logits), chosen, LIKE(logits)


def fused_topk_with_score_function_bwd(_tokens, _experts, _chosen, _kept, gradient, *_):
    return LIKE(gradient)


def fused_score_for_moe_aux_loss_fwd(logits, topk, score_function):
    return LIKE(logits), EMPTY(logits.shape, dtype=torch.bool), LIKE(logits)


def fused_score_for_moe_aux_loss_bwd(grad_scores, **_):
    return LIKE(grad_scores)


def fused_moe_aux_loss_fwd(probs, **_):
    return EMPTY((), dtype=probs.dtype), EMPTY(())


def fused_moe_aux_loss_bwd(num_rows, num_cols, **_):
    return EMPTY((num_rows, num_cols))


OF_ENGINE = (generic_gemm, te_general_grouped_gemm, layernorm_fwd, rmsnorm_fwd, layernorm_bwd,
             rmsnorm_bwd, fused_attn_fwd, fused_attn_bwd, fused_rope_forward,
             fused_topk_with_score_function_fwd, fused_topk_with_score_function_bwd,
             fused_score_for_moe_aux_loss_fwd, fused_score_for_moe_aux_loss_bwd,
             fused_moe_aux_loss_fwd, fused_moe_aux_loss_bwd)


def play_engine():
    """Transformer Engine's extension."""
    import transformer_engine_torch as extension

    extension.DType = enum.IntEnum("DType", ("kByte", "kInt32", "kFloat32", "kFloat16", "kBFloat16",
                                             "kFloat8E4M3", "kFloat8E5M2", "kFloat4E2M1"), start=0)
    backend = enum.IntEnum("NVTE_Fused_Attn_Backend",
                           ("NVTE_No_Backend", "NVTE_F16_max512_seqlen",
                            "NVTE_F16_arbitrary_seqlen", "NVTE_FP8"), start=-1)
    extension.NVTE_Fused_Attn_Backend = backend
    for kernel in OF_ENGINE:
        setattr(extension, kernel.__name__, counted(kernel))
    extension.fused_rope_backward = counted(fused_rope_backward)
    for name, value in {"get_cudnn_version": 91000, "get_num_cublas_streams": 4,
                        "get_cublasLt_version": 130000,
                        "get_fused_attn_backend": backend.NVTE_F16_arbitrary_seqlen}.items():
        setattr(extension, name, lambda *_, value=value: value)


class TritonKernel:
    def __getitem__(self, _grid):
        return self

    def __call__(self, *_, **__):
        global calls
        calls += 1


def play_triton():
    import triton

    def decorator(*_, **__):
        return lambda _function: TritonKernel()

    triton.jit = lambda function=None, **_: TritonKernel() if function else decorator()
    triton.autotune = triton.heuristics = decorator
    triton.Config = lambda *_, **__: None
    triton.cdiv = lambda a, b: -(-a // b)
    triton.next_power_of_2 = lambda n: 1 << (n - 1).bit_length()


class Event:
    def current_stream_wait(self):
        pass


class Buffer:
    """DeepEP's, on a rank that gets as many rows as it sends. `local`: its experts."""

    local = 1

    def __init__(self, group, nvlink_bytes, network_bytes):
        self.group, self.num_nvl_bytes, self.num_rdma_bytes = group, nvlink_bytes, network_bytes

    @staticmethod
    def get_dispatch_config(_ranks):
        return types.SimpleNamespace(get_nvl_buffer_size_hint=lambda *_: 1,
                                     get_rdma_buffer_size_hint=lambda *_: 0)

    get_combine_config = get_dispatch_config

    @staticmethod
    def set_num_sms(_number):
        pass

    def get_dispatch_layout(self, chosen, experts, **_):
        ranks = self.group.size()
        return (EMPTY(ranks, dtype=torch.int32), None, EMPTY(experts, dtype=torch.int32),
                EMPTY((chosen.shape[0], ranks), dtype=torch.bool), Event())

    def dispatch(self, x, handle=None, topk_idx=None, topk_weights=None, **_):
        if handle is not None:
            return LIKE(x), None, None, None, None, Event()
        return (LIKE(x), torch.zeros_like(topk_idx), LIKE(topk_weights),
                [x.shape[0]] * self.local, (1,), Event())

    def combine(self, x, handle=None, topk_weights=None, **_):
        return LIKE(x), None if topk_weights is None else LIKE(topk_weights), Event()


def play_deepep():
    import deep_ep
    import deep_ep.utils

    deep_ep.Buffer = Buffer
    deep_ep.utils.EventHandle, deep_ep.utils.EventOverlap = Event, lambda event: event


class ApexNorm(torch.autograd.Function):
    """Apex's FusedLayerNormAffineFunction: one kernel in each direction."""

    @staticmethod
    def forward(ctx, x, weight, bias, shape, eps, *_):
        ctx.save_for_backward(x, weight, bias)
        ctx.shape = shape
        return LIKE(x)

    @staticmethod
    def backward(ctx, gradient):
        x, weight, bias = ctx.saved_tensors
        return LIKE(x), LIKE(weight), LIKE(bias), None, None, None


def play_apex():
    """Apex's norms."""
    import apex.normalization.fused_layer_norm as norms

    norms.FusedLayerNormAffineFunction = ApexNorm
