// Hugging Face configs as models: which file is one, which family it is of.
#include "sim/scenario/huggingface/huggingface.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/suggest.hpp"
#include "sim/scenario/huggingface/huggingface_families.hpp"

namespace stepsim {
namespace {

/// The language model of a multimodal config is a config of its own.
const Tree& language_model(const Tree& config) {
  const Entry* text = config.find("text_config");
  const bool nested =
      text != nullptr && text->value.is_map() && text->value.find("model_type") != nullptr;
  return nested ? text->value : config;
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

}  // namespace

bool is_huggingface(const std::string& file) { return file.ends_with(".json"); }

std::shared_ptr<const Source> as_yaml(const Source& json) {
  Source source = json;
  std::replace(source.text.begin(), source.text.end(), '\t', ' ');
  return std::make_shared<Source>(std::move(source));
}

std::optional<Tree> model_of_huggingface(const Tree& config, const std::string& path,
                                         Problems& problems) {
  const Tree& text = language_model(config);
  refuse_duplicates(config, path, problems);
  if (&text != &config) refuse_duplicates(text, path, problems);
  const Entry* type = text.find("model_type");
  if (type == nullptr || type->value.kind != Tree::Kind::scalar) {
    problems.add(text.place, path, fmt::format("{}: a Hugging Face config has a model_type", path),
                 "a model of stepsim's own is a .yaml file");
    return std::nullopt;
  }
  const std::string& wanted = type->value.scalar;
  const auto& families = huggingface_families();
  const auto family = std::find_if(families.begin(), families.end(),
                                   [&](const Family& f) { return f.model_type == wanted; });
  if (family == families.end()) {
    problems.add(type->value.place, path,
                 fmt::format("{}: model_type {} cannot be read", path, quoted(wanted)),
                 fmt::format("these can: {}", fmt::join(huggingface_model_types(), ", ")));
    return std::nullopt;
  }
  Translation translation(text, path, problems);
  family->translate(translation);
  if (&text != &config) translation.note("text_config alone is simulated");
  return translation.finish(wanted);
}

std::string huggingface_name(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path(file);
  std::error_code ignored;
  const std::string folder = fs::absolute(path, ignored).parent_path().filename().string();
  return path.stem() == "config" && !folder.empty() ? folder : path.stem().string();
}

std::vector<std::string> huggingface_model_types() {
  std::vector<std::string> types;
  for (const Family& family : huggingface_families()) types.emplace_back(family.model_type);
  return types;
}

}  // namespace stepsim
