// Hugging Face configs as models: which file is one, and which layout it has.
#include "sim/scenario/huggingface/huggingface.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"
#include "sim/scenario/huggingface/huggingface_tower.hpp"
#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {
namespace {

/// Under which a multimodal config keeps its language model, a config of its own.
constexpr std::string_view kTexts[] = {"thinker_config", "text_config", "llm_config",
                                       "language_config"};

/// What ends the name of a class that is made of a layout.
constexpr std::string_view kHeads =
    "ForCausalLM ForConditionalGeneration LMHeadModel ForPreTraining ForMaskedLM "
    "ForImageClassification ForQuestionAnswering ForTokenClassification "
    "ForSequenceClassification DoubleHeadsModel Model";

/// The row whose names hold it, or nullptr.
template <class Row>
const Row* row_named(const std::vector<Row>& rows, std::string_view name) {
  const auto found =
      std::ranges::find_if(rows, [&](const Row& row) { return has_word(row.names, name); });
  return found == rows.end() ? nullptr : &*found;
}

std::string letters_of(std::string_view name) {
  std::string letters = in_lower_case(std::string(name));
  std::erase_if(letters, [](char c) { return c == '_' || c == '-'; });
  return letters;
}

/// "qwen3_moe" of Qwen3MoeForCausalLM; nothing where no model type has these letters.
std::optional<std::string> type_of_class(std::string_view name) {
  for (const std::string_view head : words_of(kHeads)) {
    if (!name.ends_with(head)) continue;
    name.remove_suffix(head.size());
    break;
  }
  const auto same = [&](std::string_view type) { return letters_of(type) == letters_of(name); };
  const auto find_in = [&](const auto& rows) -> std::optional<std::string> {
    for (const auto& row : rows)
      for (const std::string_view type : words_of(row.names))
        if (same(type)) return std::string(type);
    return std::nullopt;
  };
  const auto type = find_in(huggingface_layouts());
  return type ? type : find_in(refused_huggingface_layouts());
}

/// The entry of the first architecture, as a list or alone; nullptr where none is stated.
const Tree* architecture_of(const Tree& config) {
  const Entry* entry = config.find("architectures");
  if (entry == nullptr) return nullptr;
  const Tree& value = entry->value;
  if (value.kind == Tree::Kind::list) return value.items.empty() ? nullptr : &value.items.front();
  return value.kind == Tree::Kind::scalar ? &value : nullptr;
}

/// Whether the class has no logits of words.
bool has_another_head(std::string_view architecture) {
  constexpr std::string_view kEnds[] = {"Classification", "QuestionAnswering", "RewardModel",
                                        "EmbeddingModel"};
  return std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](std::string_view end) { return architecture.ends_with(end); });
}

/// Draft models of speculative decoding have the model_type of a layout, and are none of it.
bool is_draft(std::string_view architecture) {
  constexpr std::string_view kSigns[] = {"Eagle", "Draft", "NextN", "Medusa", "MTP"};
  return std::any_of(std::begin(kSigns), std::end(kSigns), [&](std::string_view sign) {
    return architecture.find(sign) != std::string_view::npos;
  });
}

bool is_known(std::string_view type) {
  return row_named(huggingface_layouts(), type) != nullptr ||
         row_named(refused_huggingface_layouts(), type) != nullptr;
}

/// A config while its language model is looked for.
struct Found {
  Tree config;
  std::string type;  ///< as model_type or architectures say
  Place type_place;
  std::string architecture;  ///< the innermost class that is named; "": none
  Place architecture_place;
  std::string note;       ///< how it was found, where model_type does not say it
  std::string_view part;  ///< the key of `config` in the file, where that is not all of it
  std::vector<std::string> left_out;  ///< keys of other parts beside it: vision_config
};

/// Takes the model type of `config`, where it states one that `found` has not.
bool take_type(const Tree& config, Found& found, const std::string& path, Problems& problems) {
  const Entry* type = config.find("model_type");
  if (type != nullptr && type->value.kind != Tree::Kind::empty) {
    if (type->value.kind != Tree::Kind::scalar) {
      problems.add(
          type->value.place, path,
          fmt::format("{}: model_type must be a name, not {}", path, title_of(type->value.kind)),
          "e.g. \"model_type\": \"llama\"");
      return false;
    }
    found.type = type->value.scalar;
    found.type_place = type->value.place;
    found.note.clear();
  }
  const Tree* architecture = architecture_of(config);
  if (architecture != nullptr) {
    found.architecture = architecture->scalar;
    found.architecture_place = architecture->place;
  }
  if (architecture == nullptr || is_known(found.type)) return true;
  const auto known = type_of_class(architecture->scalar);
  if (found.type.empty()) found.type_place = architecture->place;
  if (known) {
    found.note = fmt::format("read as model_type {}, as architectures {} says", *known,
                             architecture->scalar);
    found.type = *known;
  } else if (found.type.empty()) {
    found.type = architecture->scalar;
  }
  return true;
}

/// Goes down to the language model; whether nothing stood in the way.
bool find_text(Found& found, const std::string& path, Problems& problems, int deepest = 3) {
  if (!take_type(found.config, found, path, problems)) return false;
  for (const std::string_view key : kTexts) {
    const Entry* entry = found.config.find(key);
    if (entry == nullptr || entry->value.kind == Tree::Kind::empty || deepest == 0) continue;
    if (!entry->value.is_map()) {
      problems.add(
          entry->value.place, path,
          fmt::format("{}: {} must be a map, not {}", path, key, title_of(entry->value.kind)),
          "it is the config of the language model");
      return false;
    }
    Tree text = entry->value;
    // The head belongs to the model around the text, and so may the tokens.
    for (const std::string_view shared : {"tie_word_embeddings", "vocab_size"}) {
      const Entry* around = found.config.find(shared);
      if (around != nullptr && text.find(shared) == nullptr) text.entries.push_back(*around);
    }
    for (const Entry& other : found.config.entries) {
      if (other.key == key || !other.value.is_map() || !other.key.ends_with("_config") ||
          other.key.starts_with("quantization"))
        continue;
      found.left_out.push_back(other.key);
    }
    found.config = std::move(text);
    found.part = key;
    return find_text(found, path, problems, deepest - 1);
  }
  return true;
}

/// JSON allows them, and readers differ in which of them they take.
void refuse_duplicates(const Tree& map, const std::string& path, Problems& problems) {
  for (const Entry& entry : map.entries) {
    const Entry* first = map.find(entry.key);
    if (first == &entry) continue;
    problems.add(entry.key_place, path,
                 fmt::format("{}: duplicate key {}, first given on line {}", path,
                             quoted(entry.key), first->key_place.line));
  }
}

/// A decoder of nearly the sizes of one that cannot be simulated, with attention in each layer; ""
/// where the config does not have them.
std::string stand_in(const Tree& config) {
  const auto size_of = [&](std::initializer_list<const char*> names) -> std::string {
    for (const char* name : names) {
      const Entry* entry = config.find(name);
      if (entry != nullptr && entry->value.kind == Tree::Kind::scalar) return entry->value.scalar;
    }
    return "";
  };
  const std::string experts = size_of({"num_experts", "n_routed_experts", "num_local_experts"});
  const std::string top_k = size_of({"num_experts_per_tok", "num_experts_per_token"});
  std::string text, missing;
  const auto add = [&](const char* key, const std::string& size, bool is_needed = false) {
    if (!size.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", key, size);
    if (size.empty() && is_needed) missing = key;
  };
  add("layers", size_of({"num_hidden_layers"}), true);
  add("hidden", size_of({"hidden_size"}), true);
  add("heads", size_of({"num_attention_heads"}), true);
  add("kv_heads", size_of({"num_key_value_heads"}));
  add("head_dim", size_of({"head_dim"}));
  add("ffn", size_of({"intermediate_size", "moe_intermediate_size"}), true);
  add("vocabulary", size_of({"vocab_size"}), true);
  if (!experts.empty() && !top_k.empty())
    add("experts", fmt::format("{{count: {}, top_k: {}, ffn: {}}}", experts, top_k,
                               size_of({"moe_intermediate_size", "intermediate_size"})));
  if (!missing.empty()) return "";
  return fmt::format(
      "a decoder of nearly its sizes may stand in, with attention in each layer: "
      "model: {{{}, positions: 0, gated_mlp: true, rms_norm: true, bias: false}}",
      text);
}

void refuse_type(const Found& found, const std::string& path, Problems& problems) {
  constexpr std::string_view by_hand =
      "docs/models.md lists the types that can be read; any decoder can be written by hand, as in "
      "models/";
  if (found.type.empty()) {
    const bool is_metas = found.config.find("dim") && found.config.find("n_layers");
    problems.add(found.config.place, path,
                 fmt::format("{}: a Hugging Face config has a model_type", path),
                 is_metas ? "this looks like a params.json: take the config.json of the model"
                          : "a model of stepsim's own is a .yaml file");
    return;
  }
  const RefusedLayouts* refused = row_named(refused_huggingface_layouts(), found.type);
  if (refused != nullptr) {
    problems.add(found.type_place, path,
                 fmt::format("{}: model_type {} cannot be simulated: {}", path, quoted(found.type),
                             refused->why),
                 stand_in(found.config));
    return;
  }
  // A class of that name says that the type is another model's, not a misspelt one.
  const bool is_meant = !found.architecture.empty() &&
                        letters_of(found.architecture).starts_with(letters_of(found.type));
  const std::string near = is_meant ? "" : closest(found.type, huggingface_model_types());
  problems.add(found.type_place, path,
               fmt::format("{}: model_type {} cannot be read", path, quoted(found.type)),
               near.empty() ? std::string(by_hand) : near);
}

/// The model type of the whole file.
std::string outer_type(const Tree& config, const Found& found) {
  const Entry* type = config.find("model_type");
  const bool is_stated = type != nullptr && type->value.kind == Tree::Kind::scalar;
  return is_stated ? type->value.scalar : found.type;
}

bool has_tower(const Tree& config, const Found& found) {
  const Entry* vision = config.find("vision_config");
  if (vision == nullptr || !vision->value.is_map() || vision->value.entries.empty()) return false;
  const Entry* type = vision->value.find("model_type");
  const bool is_named = type != nullptr && type->value.kind == Tree::Kind::scalar;
  return has_huggingface_tower(outer_type(config, found), is_named ? type->value.scalar : "");
}

/// A tower of another kind than a map, which null is not: there is none.
void refuse_no_map(const Tree& config, const Found& found, Translation& translation) {
  const Entry* vision = config.find("vision_config");
  if (vision == nullptr || vision->value.is_map() || vision->value.kind == Tree::Kind::empty ||
      !has_huggingface_tower(outer_type(config, found), ""))
    return;
  translation.refuse(*vision, fmt::format("must be a map, not {}", title_of(vision->value.kind)),
                     "null, or no such key, where there is no tower");
}

/// Writes the tower; false where a mistake was reported.
bool add_tower(const Tree& config, const Found& found, Translation& translation,
               const std::string& path, Problems& problems) {
  translation.find({"vision_config", "mm_tokens_per_image", "multimodal_projector_bias",
                    "vision_feature_layer", "vision_feature_select_strategy", "image_seq_length",
                    "image_grid_pinpoints"});
  TowerOfHuggingface read =
      tower_of_huggingface(config, outer_type(config, found),
                           translation.integer({"hidden_size"}).value_or(0), path, problems);
  for (const std::string& note : read.notes) translation.note(note);
  const bool is_sound = !read.tower.entries.empty();
  if (is_sound) translation.set("tower", std::move(read.tower));
  return is_sound;
}

}  // namespace

bool is_huggingface(const std::string& file) { return file.ends_with(".json"); }

std::shared_ptr<const Source> as_yaml(const Source& json) {
  Source source = json;
  std::ranges::replace(source.text, '\t', ' ');
  return std::make_shared<Source>(std::move(source));
}

std::optional<Tree> model_of_huggingface(const Tree& config, const std::string& path,
                                         Problems& problems) {
  Found found{.config = config, .type_place = config.place};
  refuse_duplicates(config, path, problems);
  if (!find_text(found, path, problems)) return std::nullopt;
  if (!found.part.empty()) refuse_duplicates(found.config, path, problems);
  const std::string& architecture = found.architecture;
  if (is_draft(architecture)) {
    problems.add(
        found.architecture_place, path,
        fmt::format("{}: {} is a draft model of speculative decoding", path, quoted(architecture)),
        "take the config.json of the model that it drafts for");
    return std::nullopt;
  }
  const ModelLayout* layout = row_named(huggingface_layouts(), found.type);
  if (layout == nullptr) {
    refuse_type(found, path, problems);
    return std::nullopt;
  }
  Translation translation(found.config, *layout, path, problems);
  const bool sees = has_tower(config, found);
  refuse_no_map(config, found, translation);
  if (!found.note.empty()) translation.note(found.note);
  if (layout->whole != nullptr) {
    layout->whole(translation);
  } else {
    decoder_of_huggingface(translation, *layout);
  }
  if (sees) std::erase(found.left_out, std::string("vision_config"));
  if (!found.part.empty() && (!sees || !found.left_out.empty()))
    translation.note(
        fmt::format("{} {} simulated{}{}", found.part, sees ? "and vision_config are" : "alone is",
                    found.left_out.empty() ? "" : ", without ", fmt::join(found.left_out, ", ")));
  if (sees && !add_tower(config, found, translation, path, problems)) {
    (void)translation.finish(found.type);  // its mistakes, too
    return std::nullopt;
  }
  if (layout->whole == nullptr && has_another_head(architecture))
    translation.note(
        fmt::format("architectures {}: the head of a language model is simulated", architecture));
  return translation.finish(found.type);
}

std::string huggingface_name(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path(file);
  std::error_code ignored;
  const std::string folder =
      fs::absolute(path, ignored).lexically_normal().parent_path().filename().string();
  return path.stem() == "config" && !folder.empty() ? folder : path.stem().string();
}

std::vector<std::string> huggingface_model_types() {
  std::vector<std::string> types;
  for (const ModelLayout& layout : huggingface_layouts())
    for (const std::string_view name : words_of(layout.names)) types.emplace_back(name);
  std::ranges::sort(types);
  return types;
}

}  // namespace stepsim
