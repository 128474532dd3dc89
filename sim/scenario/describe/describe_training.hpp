// Keys of `training`.
#pragma once

#include "sim/scenario/describe/frameworks.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, Recomputation& r) {
  io.field("kind", r.kind, any, "selective: modules of each layer; full: whole layers");
  io.fallback(r.modules, r.modules, "[core_attention]");
  io.field(
      "modules", r.modules, any,
      "selective: what is computed again; Megatron-LM's --recompute-modules, attention with the "
      "product and the sum behind it, an MLP but for its last product (mlp_up), or torchtitan's "
      "selective_ac_option op, which keeps attention and every second matrix product");
  io.field("method", r.method, any,
           "full: uniform: all layers, in groups; block: the first layers of each chunk");
  io.field("layers", r.layers, between(1, 1e5),
           "full: of a group, whose first input alone is kept; or of each chunk");
  io.field("early_stop", r.early_stop, any,
           "full: ends with the last tensor that backward needs, before the layer's last GEMM, as "
           "PyTorch's checkpoint does from 2.1 on");
}

template <class Io>
void describe(Io& io, Lora& l) {
  io.field("rank", l.rank, required(between(1, 65536)),
           "of an adapter's two matrices; NeMo's dim, PEFT's r");
  io.fallback(l.target_modules, l.target_modules,
              "[linear_qkv, linear_proj, linear_fc1, linear_fc2]");
  io.field(
      "target_modules", l.target_modules, any,
      "linear layers that have an adapter, named as in NeMo: linear_qkv, by one adapter or, "
      "with fused_qkv false, by one for each of the three; linear_q, linear_k and linear_v, "
      "PEFT's q_proj, k_proj and v_proj, for fused_qkv false; linear_proj behind attention; "
      "linear_fc1 and linear_fc2 of the MLP, or of the experts, which have one together on each "
      "rank; in_proj and out_proj of mixers and gated delta nets; of latent attention, which has "
      "no linear_qkv, linear_q_proj or linear_q_down_proj and linear_q_up_proj, "
      "linear_kv_down_proj and linear_kv_up_proj");
  io.field("dropout", l.dropout, any, "of an adapter's input");
  io.field("all_to_all", l.all_to_all, any,
           "with sequence parallelism outputs of adapters beside linear_proj and linear_fc2 come "
           "to their tokens' ranks by an all-to-all, NeMo's a2a_experimental; false: all ranks "
           "gather them and keep their part");
}

template <class Io>
void describe(Io& io, Muon& m) {
  io.field("steps", m.steps, between(1, 100),
           "of Newton and Schulz's iteration, three products each; Megatron-LM's "
           "--muon-num-ns-steps");
  io.field("nesterov", m.nesterov, any,
           "the gradient is added to the momentum once more, as by torch.optim.Muon; Megatron-LM "
           "does it with --muon-nesterov alone");
  io.field("split_qkv", m.split_qkv, any,
           "queries, keys and values of one linear layer are matrices of their own; false, as with "
           "--muon-no-split-qkv: one");
  io.field("symmetric", m.symmetric, any,
           "a kernel computes half of each symmetric product, as with --muon-use-syrk");
  io.field("tensor_mode", m.tensor_mode, any,
           "matrices that tensor ranks split, as --muon-tp-mode: duplicated: each rank gathers "
           "the matrix and does all of it; blockwise: each does its part as a matrix; "
           "distributed: each multiplies its part, and small products are all-reduced. Without "
           "tensor ranks all three are the same");
  io.field("owners", m.owners, any,
           "without zero1: all: each data rank updates all matrices, as torch.optim.Muon; "
           "round_robin: they take them in turn and all-reduce the updates in 16 bits, as "
           "modded-nanogpt. With zero1 ranks own whole matrices, dealt out by their products");
}

template <class Io>
void describe(Io& io, Preconditioner& p) {
  io.fallback(p.every, p.every, "10 of soap, 1 of shampoo");
  io.field("every", p.every, between(1, 1e6),
           "steps between new eigenbases (SOAP's precondition_frequency) or roots; a step has its "
           "share of them");
  io.fallback(p.largest_side, p.largest_side, "10000 of soap, 1024 of shampoo");
  io.field("largest_side", p.largest_side, between(0, 1e8),
           "soap: longer sides have no preconditioner (max_precond_dim); shampoo: matrices are cut "
           "into blocks with sides up to it (max_preconditioner_dim); 0: of any length");
  io.field("grafting", p.grafting, any,
           "shampoo: each step has the norm of Adam's (grafting_config: AdamPreconditionerConfig)");
  io.field("kl_statistics", p.kl_statistics, any,
           "soap: statistics of one side weigh the gradient by the other side's inverse, as "
           "Megatron-LM's soap_use_kl_shampoo");
  io.field("precision", p.precision, any,
           "of products: fp32, as PyTorch's without allow_tf32, tf32 or bf16");
  io.field(
      "decomposition_rate", p.decomposition_rate, any_rate,
      "FLOP/s of QR (8/3 d^3 FLOP of a side d) and eigendecompositions (9 d^3), which few have "
      "measured: that of QR of 2048 x 2048 on A100");
  io.fallback(p.owners, p.owners, "all of soap, greedy of shampoo");
  io.field("owners", p.owners, any,
           "without zero1: all: each data rank updates all matrices; greedy: each goes to the rank "
           "with least elements, and updates are gathered in fp32, as by Distributed Shampoo. With "
           "zero1 ranks own whole matrices, dealt out by their products");
}

template <class Io>
void describe(Io& io, SequencePacking& p) {
  io.field("distribution", p.distribution, any,
           "of lengths, a name of `stepsim list distributions`");
  io.field("mean", p.spread.mean, between(0, 1e8),
           "tokens of a document, longer ones cut at sequence_length; 0: that of values");
  io.field("sigma", p.spread.sigma, between(0, 10),
           "standard deviation, in units of the mean; 0: documents are equally long");
  io.field("values", p.spread.values, positive, "empirical: lengths, each as likely");
  io.fallback(p.imbalance, p.imbalance, "as lengths and ranks make it");
  io.field("imbalance", p.imbalance, between(1, 1e5),
           "work of attention of the busiest rank over the average; 1: samples are dealt out so "
           "that it is even");
}

/// Lengths and batches.
template <class Io>
void describe_batches(Io& io, Training& t) {
  io.field("sequence_length", t.sequence_length, between(0, 1e8),
           "tokens per sequence; required for transformers of text");
  io.field("decoder_sequence_length", t.decoder_sequence_length, between(0, 1e8),
           "tokens per target sequence of an encoder-decoder model; 0: as sequence_length");
  io.field("global_batch", t.global_batch, required(large_count),
           "sequences or samples per step, all ranks together");
  io.field("micro_batch", t.micro_batch, between(1, 1e6),
           "sequences or samples per pass of one rank");
  io.section("packing", t.packing, SequencePacking{},
             "sequences are packed of documents, and tokens attend to those of their own document "
             "only, as with sample packing of FlashAttention's or Transformer Engine's kernels for "
             "several lengths (THD). Absent: to the whole sequence");
}

template <class Io>
void describe(Io& io, Bf16Layers& l) {
  io.field("first", l.first, between(0, 1e5), "so many at the start");
  io.field("last", l.last, between(0, 1e5), "so many at the end, before the head");
}

/// Types of numbers, and how gradients are added up.
template <class Io>
void describe_numbers(Io& io, Training& t) {
  io.field(
      "precision", t.precision, any,
      "type of the GEMMs, which the GPU's profile must have; fp8 and nvfp4: of linear layers, the "
      "rest is bf16");
  io.field("autocast", t.autocast, any,
           "as torch.autocast: parameters are fp32, each product casts its weights and inputs to "
           "precision, and what residual connections carry, norms and softmax stay fp32");
  io.fallback(t.parameters, t.parameters,
              "fp32 with autocast, else as precision, bf16 with fp8 and nvfp4");
  io.field("parameters", t.parameters, any,
           "type that ranks keep parameters in. fp32 without autocast takes zero3: ranks cast "
           "their shares before they are gathered, as FSDP's MixedPrecision(param_dtype), whose "
           "reduce_dtype is gradients; the optimizer then works on the shares, without a copy");
  io.field("fp8_scaling", t.fp8_scaling, any,
           "where fp8 tensors have their scales from: earlier steps, themselves, each block of 32 "
           "elements, or each 128 of a row (128 x 128 of weights), as DeepSeek-V3's");
  io.section("bf16_layers", t.bf16_layers, Bf16Layers{},
             "layers at both ends whose products stay in bf16 beside fp8 or nvfp4, as with "
             "Megatron-LM's --first-last-layers-bf16; absent: none");
  io.field("reduce_amax", t.reduce_amax, any,
           "delayed scaling: tensor-, context- and data-parallel ranks agree on scales after each "
           "pass, as Transformer Engine's do, or only tensor-parallel ones, or none; absent: all");
  io.field(
      "fp8_parameters", t.fp8_parameters, any,
      "those of linear layers are updated and gathered in fp8 by zero1 and zero2, as Megatron-"
      "LM's --fp8-param-gather, or in nvfp4, as its --fp4-param-gather; by zero3 each rank casts "
      "its share and fp8 is gathered, as XLA's "
      "collective quantizer makes of it; memory is counted as without. With lora: frozen ones are "
      "kept in fp8 alone, also by ddp, and transposed in each backward pass where products need "
      "that");
  io.field("fp8_activation_input", t.fp8_activation_input, any,
           "SwiGLU and other gated activations keep their input for the backward pass in fp8, by a "
           "cast each way (Megatron Core's activation_func_fp8_input_store)");
  io.fallback(
      t.gradients,
      t.autocast ? t.parameters.value_or(Precision::fp32)
                 : default_gradients(io.framework(), storage_of(t.precision)),
      "as precision, bf16 with fp8 and nvfp4; as parameters with autocast; or the framework's");
  io.field("gradients", t.gradients, any, "type that gradients are kept and reduced in");
  io.fallback(t.fused_accumulation, default_fused_accumulation(io.framework()),
              "true, or the framework's");
  io.field("fused_accumulation", t.fused_accumulation, any,
           "weight-gradient GEMMs add to the gradients of earlier micro-batches, as Megatron-LM's "
           "gradient_accumulation_fusion; false: a kernel of its own does");
}

/// The update, and what becomes of gradients behind it.
template <class Io>
void describe_optimizer(Io& io, Training& t) {
  io.field("master_weights", t.master_weights, any,
           "the optimizer keeps fp32 copies of 16-bit parameters");
  io.field("optimizer", t.optimizer, any, "a name of `stepsim list optimizers`");
  io.section("muon", t.muon, Muon{},
             "optimizer muon: matrices of hidden layers; what else there is, embeddings, head, "
             "norms, biases, is updated by Adam. Absent: the defaults");
  io.section(
      "preconditioner", t.preconditioner, preset_preconditioner(t.optimizer),
      "optimizers soap and shampoo: matrices of hidden layers; what else there is is updated "
      "by Adam. Absent: the defaults");
  io.fallback(t.moments, t.moments, "as the weights that are updated");
  io.field("moments", t.moments, any,
           "type that the optimizer keeps its moments in (Megatron-LM's --exp-avg-dtype and "
           "--exp-avg-sq-dtype)");
  io.fallback(t.optimizer_kernels, default_optimizer_kernels(io.framework()),
              "fused, or the framework's");
  io.field("optimizer_kernels", t.optimizer_kernels, any,
           "fused: as few as possible for all parameters; foreach: one an operation; per_tensor: "
           "one an operation and tensor; composed: one an elementary operation and tensor, as in "
           "TensorFlow without XLA");
  io.field(
      "weight_decay", t.weight_decay, any,
      "weights decay, which is a kernel of its own where those of the optimizer are not fused");
  io.fallback(t.used_gradients, default_used_gradients(io.framework()),
              "clear_buffer, or the framework's");
  io.field("used_gradients", t.used_gradients, any,
           "what becomes of them after the update: clear_buffer: one kernel clears all; "
           "clear_tensors: one a tensor does, as PyTorch's zero_grad() before 2.0; free: they are "
           "freed, as since; keep: nothing. Where they are not cleared as one or freed, even the "
           "first micro-batch of a step adds to them");
  io.field("gradient_clipping", t.gradient_clipping, any,
           "by global norm: one small all-reduce over all model ranks");
}

/// How operations become kernels.
template <class Io>
void describe_kernels(Io& io, Training& t) {
  io.section("offload", t.offload, ActivationOffload{},
             "activations wait for their backward pass in the memory of the host; absent: on the "
             "GPU");
  io.section("recompute", "kind", t.recompute,
             "activations computed again in the backward pass; a word is its kind");
  io.fallback(t.fusion, default_fusion(io.framework()), "fused, or the framework's");
  io.field(
      "fusion", t.fusion, any,
      "the style of element-wise kernels, a name of `stepsim list styles`: none, one an "
      "operation; fused, as Megatron-LM's; compiled, as torch.compile's; xla, as XLA's on GPUs");
  io.field("bias_dropout_fusion", t.bias_dropout_fusion, any,
           "fusion fused: bias, dropout and residual sum are one kernel; false: one each, as by "
           "Megatron-LM's --no-bias-dropout-fusion, and where PyTorch's legacy fuser meets PyTorch "
           "1.11 or later");
  io.field(
      "rope_fusion", t.rope_fusion, any,
      "fusion fused: rotary positions are one kernel, of latent attention two; false: operators "
      "of PyTorch, as by Megatron-LM's --no-rope-fusion");
  io.fallback(t.attention, std::string(kAutoAttention), kAutoAttention);
  io.field("attention", t.attention, any,
           "unfused, as Megatron-LM's; eager, with copies of queries, keys, values and the result, "
           "as Hugging Face's; a kernel that the GPU has: `stepsim list attention`; or auto: what "
           "the framework chooses on that GPU, docs/frameworks.md, and without one the fastest "
           "that it has");
  io.field(
      "fused_qkv", t.fused_qkv, any,
      "queries, keys and values by one linear layer, as in Megatron-LM; false: by one each, as "
      "in Hugging Face's models, whose three input gradients are summed");
  io.field(
      "cublas", t.cublas, between(9, 99),
      "major version; before 11 products of 16-bit rows of even widths that are not multiples of "
      "8 elements run without tensor cores, as in fp32");
  io.field("convolution_autotuning", t.convolution_autotuning, any,
           "cuDNN tries all kernels of a convolution and takes the fastest, as with "
           "torch.backends.cudnn.benchmark; false: it takes one untried");
  io.fallback(t.transformer_impl, default_transformer_impl(io.framework()),
              "local, or the framework's");
  io.field("transformer_impl", t.transformer_impl, any,
           "whose linear layers, as in Megatron-LM; those of Transformer Engine keep an empty "
           "gradient for each shape of weight");
}

/// Tables, logits and the loss, and a loop over layers.
template <class Io>
void describe_ends(Io& io, Training& t) {
  io.fallback(t.vocabulary_multiple, default_vocabulary_multiple(io.framework()),
              "the framework's, or 128 with tensor parallelism, else 1");
  io.field("vocabulary_multiple", t.vocabulary_multiple, between(1, 65536),
           "tables and logits have a multiple of so many rows on each tensor rank, as by "
           "Megatron-LM's make-vocab-size-divisible-by");
  io.field(
      "cross_entropy", t.cross_entropy, any,
      "whose kernels compute the loss: Megatron-LM's unfused ones, or what a compiler makes of "
      "them "
      "(--cross-entropy-loss-fusion with native kernels), PyTorch's, the fused ones of Apex and "
      "flash-attn's CUDA extension (xentropy), those of Transformer Engine, flash-attn's Triton "
      "ones, or Liger's for split vocabularies; PyTorch's and xentropy need "
      "whole tokens: where ranks split the vocabulary, parallelism.dtensor gathers the logits. "
      "Without logits, for a vocabulary that is not split: liger_fused_linear, Liger's, which "
      "computes the head chunk by chunk with its gradients in the forward pass; "
      "cut_cross_entropy, Apple's, which computes its product again in the backward pass");
  io.field("loss_chunks", t.loss_chunks, between(1, 1e6),
           "head and loss run chunk by chunk of a pass's tokens, forward and backward, within the "
           "forward pass, so that logits of one chunk exist at a time, as torchtitan's "
           "ChunkedLossWrapper; 1: all tokens at once");
  io.field("loss_metrics", t.loss_metrics, between(0, 16),
           "losses computed again after each forward pass, to be reported (Composer: 2)");
  io.field("scan_layers", t.scan_layers, any,
           "a loop runs equal layers, as JAX's lax.scan: outputs of products and of a fused "
           "attention that backward needs are copied into an array over all layers, and out of it");
  io.section("lora", t.lora, Lora{},
             "adapters alone are trained: weights are frozen, have no gradients and no optimizer "
             "state; the embedding and the first adapted layer's input need no gradient; a "
             "checkpoint has the adapters. Absent: all weights are trained");
}

template <class Io>
void describe(Io& io, ActivationOffload& o) {
  io.field(
      "share", o.share, between(0, 1),
      "of what each layer keeps for its backward pass, or of the inputs of its modules; a part "
      "of the layers counts as that share of each");
  io.field("modules", o.modules, any,
           "those whose inputs leave, as Megatron-LM's --offload-modules; none: all of the layer");
}

template <class Io>
void describe(Io& io, SequenceImages& i) {
  io.field("per_sequence", i.per_sequence, between(1, 1e5),
           "images of each sequence, whose tokens are among its own; frames of a video count as "
           "images, or as many of them together as the tower's patches have");
  io.field("height", i.height, between(0, 1e5), "pixels; 0: the tower's image");
  io.field("width", i.width, between(0, 1e5), "pixels; 0: the tower's image");
}

/// Models with a vision tower.
template <class Io>
void describe_images(Io& io, Training& t) {
  io.section("images", t.images, SequenceImages{}, "of models with a tower");
  io.field("frozen", t.frozen, any,
           "parts of a model with a tower that are not trained: tower, projector, decoder; they "
           "have no gradients of weights and no optimizer state, and no backward pass where "
           "nothing before them is trained");
}

template <class Io>
void describe(Io& io, Training& t) {
  describe_batches(io, t);
  describe_images(io, t);
  describe_numbers(io, t);
  describe_optimizer(io, t);
  describe_kernels(io, t);
  describe_ends(io, t);
}

}  // namespace stepsim
