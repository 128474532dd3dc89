// All layouts, and the model types that are refused.
#include "sim/scenario/huggingface/huggingface_table.hpp"

namespace stepsim {

const std::vector<ModelLayout>& huggingface_layouts() {
  static const std::vector<ModelLayout> layouts = [] {
    std::vector<ModelLayout> all = dense_huggingface_layouts();
    for (const auto* more : {&expert_huggingface_layouts(), &hybrid_huggingface_layouts()})
      all.insert(all.end(), more->begin(), more->end());
    return all;
  }();
  return layouts;
}

const std::vector<RefusedLayouts>& refused_huggingface_layouts() {
  static const std::vector<RefusedLayouts> refused{
      {"mamba mamba2 falcon_mamba rwkv rwkv5 rwkv6 rwkv7 xlstm",
       "its layers have a state instead of attention"},
      {"jamba plamo2", "some of its layers have a state of Mamba's first kind"},
      {"falcon_h1 hymba phi4flash recurrent_gemma zamba zamba2",
       "some of its layers have a state beside attention or of another kind than Mamba-2's"},
      {"bailing_hybrid bailing_moe_linear bailing_moe_v2_5 minimax minimax_m1 "
       "minimax_text_01 olmo_hybrid",
       "some of its layers have linear attention of another kind than gated delta nets"},
      {"lfm2 lfm2_moe", "some of its layers are convolutions"},
      {"bart bigbird_pegasus blenderbot led longt5 m2m_100 marian mbart mt5 nllb-moe pegasus "
       "prophetnet switch_transformers t5gemma umt5 whisper",
       "it has an encoder and a decoder, and of these t5 alone can be read"},
      {"deci gemma4 gemma4_text mimo_v2 mimo_v2_flash nemotron-nas openelm step3p5 step3p7",
       "its layers are not alike"},
      {"gemma3n gemma3n_text", "each of its layers has an embedding of its own"},
      {"mllama mllama_text_model", "some of its layers attend to an image"},
      {"deepseek_v4 deepseek_ref",
       "its attention reads compressed keys, and several streams run through its layers"},
      {"minimax_m3", "its attention picks blocks of keys"},
      {"ernie4_5_moe_vl ernie4_5_vl_moe ernie4_5_vl_moe_text",
       "it has experts of two widths, for words and for images"},
      {"jetmoe", "its attention has experts"},
      {"arctic", "its layers have a dense MLP beside the experts"},
      {"longcat_flash", "its layers have two attentions, and experts that do nothing"},
  };
  return refused;
}

}  // namespace stepsim
