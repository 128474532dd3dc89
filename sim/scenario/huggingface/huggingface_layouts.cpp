// All layouts, and the model types that are refused.
#include "sim/scenario/huggingface/huggingface_table.hpp"

namespace stepsim {

const std::vector<ModelLayout>& huggingface_layouts() {
  static const std::vector<ModelLayout> layouts = [] {
    std::vector<ModelLayout> all = dense_huggingface_layouts();
    const std::vector<ModelLayout>& experts = expert_huggingface_layouts();
    all.insert(all.end(), experts.begin(), experts.end());
    return all;
  }();
  return layouts;
}

const std::vector<RefusedLayouts>& refused_huggingface_layouts() {
  static const std::vector<RefusedLayouts> refused{
      {"mamba mamba2 falcon_mamba rwkv xlstm", "its layers have a state instead of attention"},
      {"bamba falcon_h1 granitemoehybrid hymba jamba nemotron_h phi4flash plamo2 recurrent_gemma "
       "zamba zamba2",
       "some of its layers have a state (Mamba's or another) instead of attention"},
      {"bailing_moe_linear kimi_linear minimax minimax_text_01 olmo_hybrid qwen3_5 qwen3_5_moe "
       "qwen3_5_moe_text qwen3_5_text qwen3_next",
       "some of its layers have linear attention"},
      {"lfm2 lfm2_moe", "some of its layers are convolutions"},
      {"bart bigbird_pegasus blenderbot led longt5 m2m_100 marian mbart mt5 nllb-moe pegasus "
       "prophetnet switch_transformers t5gemma umt5 whisper",
       "it has an encoder and a decoder, and of these t5 alone can be read"},
      {"deci gemma4 gemma4_text nemotron-nas openelm", "its layers are not alike"},
      {"gemma3n gemma3n_text", "each of its layers has an embedding of its own"},
      {"mllama mllama_text_model", "some of its layers attend to an image"},
      {"jetmoe", "its attention has experts"},
      {"arctic", "its layers have a dense MLP beside the experts"},
      {"longcat_flash", "its layers have two attentions, and experts that do nothing"},
  };
  return refused;
}

}  // namespace stepsim
