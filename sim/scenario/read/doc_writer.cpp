// The reference of the scenario format as Markdown.
#include "sim/scenario/read/doc_writer.hpp"

#include <fmt/format.h>

#include "sim/scenario/describe/describe.hpp"
#include "sim/scenario/describe/describe_suite.hpp"
#include "sim/scenario/read/expectation.hpp"

namespace stepsim {
namespace {

template <class T>
DocWriter described(T value, bool is_profile = false, const std::string& prefix = "") {
  DocWriter io(is_profile, prefix);
  describe(io, value);
  return io;
}

std::string section_text(std::string_view title, std::string_view lead, const DocWriter& io) {
  return fmt::format("## {}\n\n{}\n\n{}\n", title, lead, io.table());
}

}  // namespace

void DocWriter::row(std::string_view key, const std::string& type, const Rules& rules,
                    const std::string& preset, std::string_view doc) {
  const std::string stated = rules.is_required   ? "required"
                             : fallback_.empty() ? preset
                                                 : fallback_;
  fallback_.clear();
  rows_.push_back({prefix_ + std::string(key), type, stated, std::string(doc)});
}

std::string DocWriter::type_text(const std::string& wanted, const std::string& range) {
  const std::string type(without_article(wanted));
  return range.empty() ? type : fmt::format("{}, {}", type, range);
}

void DocWriter::group(std::string_view key, std::string_view doc,
                      const std::function<void(DocWriter&)>& write) {
  row(key, "map", any, "", doc);
  DocWriter io(is_profile_, prefix_ + std::string(key) + ".");
  write(io);
  append(io);
}

void DocWriter::part(std::string_view key, LinkProfile& link, std::string_view doc) {
  row(key, "name or map", any, "none", doc);
  append(described(link, false, prefix_ + std::string(key) + "."));
}

void DocWriter::expectations(std::string_view key, std::vector<Expectation>&,
                             std::string_view doc) {
  row(key, "map", any, "none", doc);
  for (const std::string& name : expectation_keys()) {
    rows_.push_back({fmt::format("{}{}.{}", prefix_, key, name), expectation_type(name), "none",
                     expectation_meaning(name)});
  }
}

std::string DocWriter::table() const {
  std::string text = "| key | type | default | meaning |\n|---|---|---|---|\n";
  for (const Row& row : rows_) {
    text += fmt::format("| `{}` | {} | {} | {} |\n", row.path, row.type, row.preset, row.meaning);
  }
  return text;
}

std::string scenario_reference() {
  return section_text("Scenario", "`stepsim run <file>` reads this map.", described(Scenario{})) +
         section_text("Transformer", "A file of `models/`, or the map below `model`.",
                      described(Model{.shape = Transformer{}})) +
         section_text("MLP", "The same with `kind: mlp`.", described(Model{.shape = Mlp{}})) +
         section_text("ResNet", "The same with `kind: resnet`.",
                      described(Model{.shape = ResNet{}})) +
         section_text("DLRM", "The same with `kind: dlrm`.", described(Model{.shape = Dlrm{}})) +
         section_text("Cluster", "A file of `scenarios/clusters/`, or the map below `cluster`.",
                      described(Cluster{})) +
         section_text("GPU profile",
                      "A file of `calib/gpus/`. \"With source\" means a map such as "
                      "`{value: 312 TFLOP/s, source: datasheet}`.",
                      described(GpuProfile{}, true)) +
         section_text("Smooth GEMM", "The map `gemm.<precision>` with `model: smooth`.",
                      described(GemmProfile{.form = SmoothGemm{}}, true)) +
         section_text("Link profile", "A file of `calib/links/`.", described(LinkProfile{}, true));
}

std::string suite_reference() { return described(Suite{}).table(); }

const std::vector<std::string>& scenario_paths() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> all{"model.base", "model.name", "cluster.base"};
    const auto add = [&](const DocWriter& io) {
      for (const DocWriter::Row& row : io.rows()) all.push_back(row.path);
    };
    add(described(Scenario{}));
    add(described(Model{.shape = Transformer{}}, false, "model."));
    add(described(Model{.shape = Mlp{}}, false, "model."));
    add(described(Model{.shape = ResNet{}}, false, "model."));
    add(described(Model{.shape = Dlrm{}}, false, "model."));
    add(described(Cluster{}, false, "cluster."));
    return all;
  }();
  return paths;
}

std::string path_of_key(const std::string& key) {
  static const std::vector<DocWriter::Row> rows = described(Scenario{}).rows();
  std::string found;
  for (const DocWriter::Row& row : rows) {
    if (!row.path.ends_with("." + key)) continue;
    if (!found.empty()) return "";
    found = row.path;
  }
  return found;
}

}  // namespace stepsim
