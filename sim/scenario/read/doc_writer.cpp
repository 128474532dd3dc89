// What the documents say of every key, from the readers' own declarations.
#include "sim/scenario/read/doc_writer.hpp"

#include <set>

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

KeyPage page(std::string file, std::string title, std::string lead, const DocWriter& io) {
  return {std::move(file), std::move(title), std::move(lead), io.rows()};
}

/// A page for the keys at the top of a scenario, and one for each map among them.
std::vector<KeyPage> scenario_pages() {
  std::vector<KeyPage> pages{{.file = "top",
                              .title = "Scenario",
                              .lead = "The keys at the top of a scenario. Each map has a page.",
                              .rows = {}}};
  std::string meaning;
  const DocWriter io = described(Scenario{});
  for (const DocWriter::Row& row : io.rows()) {
    const auto dot = row.path.find('.');
    const std::string map = row.path.substr(0, dot);
    if (dot == std::string::npos) {
      pages.front().rows.push_back(row);
      meaning = row.meaning;
      continue;
    }
    if (pages.back().file != map) {
      pages.push_back(
          {.file = map, .title = map, .lead = fmt::format("`{}`: {}.", map, meaning), .rows = {}});
    }
    pages.back().rows.push_back(row);
  }
  return pages;
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

std::vector<KeyPage> key_pages() {
  std::vector<KeyPage> pages = scenario_pages();
  for (const KeyPage& one : {
           page("transformer", "Transformer", "A file of `models/`, or the map below `model`.",
                described(Model{.shape = Transformer{}})),
           page("mlp", "MLP", "A model with `kind: mlp`.", described(Model{.shape = Mlp{}})),
           page("resnet", "ResNet", "A model with `kind: resnet`.",
                described(Model{.shape = ResNet{}})),
           page("dlrm", "DLRM", "A model with `kind: dlrm`.", described(Model{.shape = Dlrm{}})),
           page("cluster", "Cluster",
                "A file of `scenarios/clusters/`, or the map below `cluster`.",
                described(Cluster{})),
           page("gpu", "GPU profile",
                "A file of `calib/gpus/`. \"With source\" means a map such as "
                "`{value: 312 TFLOP/s, source: datasheet}`.",
                described(GpuProfile{}, true)),
           page("gemm-smooth", "Smooth GEMM",
                "The map `gemm.<precision>` of a GPU profile with `model: smooth`.",
                described(GemmProfile{.form = SmoothGemm{}}, true)),
           page("link", "Link profile", "A file of `calib/links/`.",
                described(LinkProfile{}, true)),
           page("suite", "Validation suite", "A file of `validate/suites/`.", described(Suite{})),
       })
    pages.push_back(one);
  return pages;
}

const std::vector<DocWriter::Row>& scenario_rows() {
  static const std::vector<DocWriter::Row> rows = [] {
    std::vector<DocWriter::Row> all;
    std::set<std::string> seen;
    const auto add = [&](const DocWriter& io) {
      for (const DocWriter::Row& row : io.rows())
        if (seen.insert(row.path).second) all.push_back(row);
    };
    add(described(Scenario{}));
    add(described(Model{.shape = Transformer{}}, false, "model."));
    add(described(Model{.shape = Mlp{}}, false, "model."));
    add(described(Model{.shape = ResNet{}}, false, "model."));
    add(described(Model{.shape = Dlrm{}}, false, "model."));
    add(described(Cluster{}, false, "cluster."));
    return all;
  }();
  return rows;
}

std::string shorthand_key(const std::string& path) {
  for (const DocWriter::Row& row : scenario_rows())
    if (row.path == path) return row.word;
  return "";
}

const std::vector<std::string>& scenario_paths() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> all{"model.base", "model.name", "cluster.base"};
    for (const DocWriter::Row& row : scenario_rows()) all.push_back(row.path);
    return all;
  }();
  return paths;
}

std::string path_of_key(const std::string& key) {
  static const std::vector<DocWriter::Row> rows = described(Scenario{}).rows();
  const auto depth_of = [](const std::string& path) { return std::ranges::count(path, '.'); };
  std::string found;
  bool is_alone = false;
  for (const DocWriter::Row& row : rows) {
    if (!row.path.ends_with("." + key)) continue;
    if (!found.empty() && depth_of(row.path) > depth_of(found)) continue;
    is_alone = found.empty() || depth_of(row.path) < depth_of(found);
    found = row.path;
  }
  return is_alone ? found : "";
}

}  // namespace stepsim
