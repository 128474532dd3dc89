// Keys of a model about images: its vision tower, or the latents of a diffusion transformer.
#pragma once

#include "sim/scenario/model/diffusion.hpp"
#include "sim/scenario/model/vision_tower.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, AttentionWindow& w) {
  io.field("tokens", w.tokens, required(between(1, 1e8)),
           "that each token attends to, its own included; or of a chunk");
  io.field(
      "kind", w.kind, any,
      "sliding: the last ones (around it without a causal mask); chunk: those of its own chunk "
      "of the sequence");
  io.field("full_every", w.full_every, between(0, 1e5),
           "the last of so many layers attends to the whole sequence: 2 of GPT-OSS, 6 of Gemma 3; "
           "0: none does");
}

/// What the tower makes of an image's tokens for the decoder.
template <class Io>
void describe_projector(Io& io, VisionTower& v) {
  io.field("merge", v.merge, between(1, 64),
           "patches of an edge of the square that becomes a token of the decoder");
  io.field("merging", v.merging, any,
           "concatenate: the patches of a square are one wider vector (Qwen2.5-VL); average: their "
           "mean (Gemma 3)");
  io.field("projector_norm", v.projector_norm, any, "before the projector, over the tower's width");
  io.field("projector", v.projector, between(1, 1e6),
           "widths between the projector's linear layers, with an activation behind each; none: "
           "one layer, which ends with the decoder's width");
  io.field("projector_bias", v.projector_bias, any, "biases in the projector's linear layers");
}

template <class Io>
void describe(Io& io, VisionTower& v) {
  io.field("layers", v.layers, required(between(1, 1e4)), "layers");
  io.field("hidden", v.hidden, required(between(1, 1e6)), "width of the residual stream");
  io.field("heads", v.heads, required(between(1, 1e5)), "attention heads");
  io.fallback(v.ffn, 4 * v.hidden, "4 * hidden");
  io.field("ffn", v.ffn, between(1, 1e7), "inner width of the MLP");
  io.field("image", v.image, between(0, 1e5),
           "pixels of an edge, where all images are equal squares; 0: training.images says");
  io.field("patch", v.patch, between(1, 1e5), "pixels of an edge of a patch, which is a token");
  io.field("frames", v.frames, between(1, 64),
           "pictures that a patch is cut from: frames of a video, or copies of an image");
  io.field("channels", v.channels, between(1, 1024), "of a pixel");
  io.field("patch_bias", v.patch_bias, any, "a bias of the layer that makes tokens of patches");
  io.field("class_token", v.class_token, any,
           "one more token an image, which the projector leaves out");
  io.field("positions", v.positions, between(0, 1e8), "rows of a learned position table; 0: none");
  io.fallback(v.rotary, v.positions == 0, "true without a table");
  io.field("rotary", v.rotary, any, "positions of queries and keys are rotary");
  io.field("input_norm", v.input_norm, any, "a norm before the first layer");
  io.field("output_norm", v.output_norm, any, "a norm behind the last layer");
  io.field("gated_mlp", v.gated_mlp, any, "SwiGLU: three matrices instead of two");
  io.field("rms_norm", v.rms_norm, any, "RMSNorm instead of LayerNorm");
  io.field("bias", v.bias, any, "biases in the layers' linear layers");
  io.section("window", v.window, AttentionWindow{},
             "layers whose patches attend to those of their window; absent: to all of the image");
  describe_projector(io, v);
}

template <class Io>
void describe(Io& io, DiffusionText& t) {
  io.field("width", t.width, required(between(1, 1e6)),
           "of a token as its encoder, which is not part of the step, hands it over");
  io.field("tokens", t.tokens, required(between(1, 1e6)), "of each sample");
  io.field("kind", t.kind, any,
           "cross: layers attend to it, as Wan's; joint: it is a stream of tokens with weights of "
           "its own, and attention is of both together, as in MMDiT and FLUX");
  io.field("mlp", t.mlp, any,
           "two linear layers with an activation between them bring it to the model's width; "
           "false: one");
  io.field("single_layers", t.single_layers, between(0, 1e5),
           "joint: of the last layers, which have one stream of all tokens and attention beside "
           "the MLP, as FLUX's");
}

template <class Io>
void describe(Io& io, Diffusion& d) {
  io.field("patch", d.patch, between(1, 1024), "latent pixels of an edge of a patch, a token");
  io.field("frames", d.frames, between(1, 1024), "latent frames of a patch");
  io.field("channels", d.channels, between(1, 1e5), "of a latent pixel");
  io.fallback(d.outputs, d.channels, "channels");
  io.field("outputs", d.outputs, between(1, 1e5),
           "of a latent pixel: its noise, and its variance where that is learned");
  io.field("frequencies", d.frequencies, between(1, 1e5), "numbers that stand for a time step");
  io.field("classes", d.classes, between(0, 1e8), "rows of a table of classes; 0: none");
  io.field("pooled", d.pooled, between(0, 1e6), "width of a vector of the whole text; 0: none");
  io.field("guidance", d.guidance, any, "the strength of guidance is an input, too");
  io.field("rotary", d.rotary, any, "rotary positions; false: a table that is not trained");
  io.field("modulation", d.modulation, any,
           "where shifts, scales and gates come from: layer: a linear layer of each; shared: one "
           "of all, and a table of each");
  io.section("text", d.text, DiffusionText{}, "what a sample is conditioned on; absent: no text");
}

}  // namespace stepsim
