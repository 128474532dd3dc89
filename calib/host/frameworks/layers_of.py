"""Layers of Megatron-LM as their authors wrote them, small enough to compute nothing."""

import os
import types

import torch

import kernels
import stand_ins

HIDDEN, TOKENS, RANKS = 32, 16, 8
SMALL = 4  # a width whose products compute nothing
SHARED = dict(hidden_size=HIDDEN, num_attention_heads=2, ffn_hidden_size=HIDDEN, bf16=True,
              params_dtype=torch.bfloat16, use_cpu_initialization=True,
              gradient_accumulation_fusion=True)
LLAMA = dict(normalization="RMSNorm", gated_linear_unit=True, add_bias_linear=False,
             activation_func=torch.nn.functional.silu, num_query_groups=1, hidden_dropout=0.0,
             attention_dropout=0.0, bias_activation_fusion=True, bias_dropout_fusion=True,
             apply_rope_fusion=True, masked_softmax_fusion=False)
GPT = dict(hidden_dropout=0.0, attention_dropout=0.0, bias_activation_fusion=True,
           bias_dropout_fusion=True, masked_softmax_fusion=False)
EXPERTS = dict(moe_router_topk=8, moe_grouped_gemm=True, moe_permute_fusion=True,
               moe_router_fusion=True, moe_ffn_hidden_size=HIDDEN, moe_router_dtype="fp32",
               moe_router_load_balancing_type="aux_loss", moe_aux_loss_coeff=1e-3,
               expert_model_parallel_size=RANKS)
LATENT = dict(multi_latent_attention=True, q_lora_rank=None, kv_lora_rank=16, qk_head_dim=16,
              qk_pos_emb_head_dim=8, v_head_dim=16, rope_type="rope", apply_rope_fusion=False)


def begin(megatron, engine):
    """To be called once, before a layer is built."""
    stand_ins.play(megatron, engine)
    if engine:
        kernels.play_engine()
        kernels.play_triton()
        kernels.play_deepep()
    else:
        kernels.play_apex()
    os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "1"
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0,
                                         world_size=1)
    from megatron.core import parallel_state
    from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed

    parallel_state.initialize_model_parallel()
    model_parallel_cuda_manual_seed(1)


class Core:
    """A model of Megatron Core with Transformer Engine's modules. `local`: experts of a rank, 0:
    a dense model; `deepep`: their dispatcher."""

    def __init__(self, layers, local=0, deepep=False, gpt=False, latent=False):
        from megatron.core import parallel_state
        from megatron.core.distributed import (DistributedDataParallel,
                                               DistributedDataParallelConfig)
        from megatron.core.models.gpt.gpt_layer_specs import (
            get_gpt_layer_with_transformer_engine_spec)
        from megatron.core.models.gpt.gpt_model import GPTModel
        from megatron.core.transformer import transformer_config

        settings = SHARED | (GPT if gpt else LLAMA) | (LATENT if latent else {})
        spec = dict(multi_latent_attention=True) if latent else {}
        if latent:
            del settings["num_query_groups"]
        if local:
            group = stand_ins.Ranks(RANKS)
            for name in ("_EXPERT_MODEL_PARALLEL_GROUP", "_EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP"):
                setattr(parallel_state, name, group)
            kernels.Buffer.local = local
            settings |= EXPERTS | dict(
                num_moe_experts=local * RANKS, moe_enable_deepep=deepep,
                moe_token_dispatcher_type="flex" if deepep else "alltoall")
            spec |= dict(num_experts=local * RANKS, moe_grouped_gemm=True)
        kind = "MLATransformerConfig" if latent else "TransformerConfig"
        config = getattr(transformer_config, kind)(num_layers=layers, **settings)
        positions = "learned_absolute" if gpt else "rope"
        model = GPTModel(config, get_gpt_layer_with_transformer_engine_spec(**spec), vocab_size=16,
                         max_sequence_length=TOKENS, position_embedding_type=positions)
        self.wrapped = DistributedDataParallel(
            config, DistributedDataParallelConfig(grad_reduce_in_fp32=True,
                                                  overlap_grad_reduce=True,
                                                  use_distributed_optimizer=True,
                                                  bucket_size=10**9), model.bfloat16())
        self.batch = (torch.zeros(1, TOKENS, dtype=torch.long), torch.arange(TOKENS)[None],
                      torch.zeros(1, 1, TOKENS, TOKENS, dtype=torch.bool))

    def clear(self):
        self.wrapped.zero_grad_buffer()

    def forward(self):
        return self.wrapped(*self.batch, labels=self.batch[0]).mean()

    def backward(self, loss):
        loss.backward()

    def finish(self):
        self.wrapped.finish_grad_sync()


class Settings(types.SimpleNamespace):
    """Arguments of a script: those that are not stated are None."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class Legacy:
    """Layers of megatron/model/transformer.py, with its fusions, but for softmax's, and dropout."""

    def __init__(self, layers):
        import megatron.global_vars
        from megatron.core import parallel_state
        from megatron.core.distributed import DistributedDataParallel
        from megatron.core.transformer.transformer_config import TransformerConfig

        megatron.global_vars._GLOBAL_ARGS = Settings(
            hidden_size=SMALL, num_attention_heads=2, kv_channels=SMALL // 2,
            add_bias_linear=True, bias_gelu_fusion=True, micro_batch_size=1, seq_length=TOKENS,
            normalization="LayerNorm", norm_epsilon=1e-5, group_query_attention=False,
            apply_layernorm_1p=False)
        from megatron.model.enums import AttnMaskType
        from megatron.model.transformer import ParallelTransformerLayer

        fused = dict(bias_gelu_fusion=True, bias_dropout_fusion=True, masked_softmax_fusion=True)
        config = TransformerConfig(
            num_layers=layers, hidden_size=SMALL, num_attention_heads=2, ffn_hidden_size=SMALL,
            use_cpu_initialization=True, hidden_dropout=0.1, attention_dropout=0.1, **fused)
        causal = AttnMaskType.causal
        chain = Chain([ParallelTransformerLayer(config, i + 1, self_attn_mask_type=causal)
                       for i in range(layers)])
        self.wrapped = DistributedDataParallel(
            config, chain, parallel_state.get_data_parallel_group(),
            accumulate_allreduce_grads_in_fp32=True, overlap_grad_reduce=False,
            use_distributed_optimizer=False)
        self.x = torch.ones(2, 1, SMALL, requires_grad=True)

    def clear(self):
        self.wrapped.zero_grad_buffer(zero_buffer=True)

    def forward(self):
        return self.wrapped(self.x)

    def backward(self, output):
        output.backward(torch.ones_like(output))

    def finish(self):
        pass


class Chain(torch.nn.ModuleList):
    def forward(self, x):
        for layer in self:
            x = layer(x, None)
        return x
