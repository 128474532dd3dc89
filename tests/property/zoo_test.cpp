// The models of the zoo, shortened, split at random: folded and unfolded runs take equally long.
//
// A draw is a text that a user could write; what the checks refuse is drawn again. STEPSIM_DRAWS
// says how many.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/names.hpp"
#include "tests/property/own_process.hpp"
#include "tests/property/random_scenario.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

constexpr double kExact = 1e-9;
constexpr int kMostTries = 300;

int draws() {
  const char* stated = std::getenv("STEPSIM_DRAWS");
  return stated == nullptr ? 100 : std::atoi(stated);
}

/// Whether a model has layers. Models without are split over data alone, and folded in
/// fold_test.cpp.
bool has_layers(const std::string& name) {
  const Model model = load_model(name, Library{{source_folder()}});
  return std::visit(
      [](const auto& shape) {
        return requires { shape.layers; };
      },
      model.shape);
}

bool has_experts(const std::string& name) {
  const Model model = load_model(name, Library{{source_folder()}});
  const auto* transformer = std::get_if<Transformer>(&model.shape);
  return transformer != nullptr && transformer->experts;
}

/// What the images of a sequence are, where the model has a tower.
std::string images_of(const std::string& name) {
  const Model model = load_model(name, Library{{source_folder()}});
  const auto* transformer = std::get_if<Transformer>(&model.shape);
  if (transformer == nullptr || !transformer->tower) return "";
  return transformer->tower->image > 0 ? "images: {per_sequence: 1}, "
                                       : "images: {per_sequence: 1, height: 336, width: 336}, ";
}

/// Whether the last of the layers are counted apart.
bool counts_layers_apart(const std::string& name) {
  const Model model = load_model(name, Library{{source_folder()}});
  const auto* transformer = std::get_if<Transformer>(&model.shape);
  return transformer != nullptr && transformer->diffusion && transformer->diffusion->text &&
         transformer->diffusion->text->single_layers > 0;
}

/// Of the model's pattern, where it has one.
std::optional<HybridLayers> hybrid_of(const std::string& name) {
  const Model model = load_model(name, Library{{source_folder()}});
  const auto* transformer = std::get_if<Transformer>(&model.shape);
  return transformer != nullptr ? transformer->hybrid : std::nullopt;
}

std::vector<std::string> zoo() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "models")) {
    const std::string name = entry.path().stem();
    if (has_layers(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Draw {
 public:
  Draw(Picker& pick, const std::string& model) : pick_(pick), model_(model) {
    nodes_ = power_of_two(4);
    gpus_ = power_of_two(16 / nodes_);
    tensor_ = power_of_two(std::min(nodes_ * gpus_, 4));
    stages_ = power_of_two(std::min(nodes_ * gpus_ / tensor_, 4));
    context_ = power_of_two(nodes_ * gpus_ / tensor_ / stages_);
    data_ = nodes_ * gpus_ / tensor_ / stages_ / context_;
    chunks_ = stages_ > 1 ? pick_.between(1, 2) : 1;
  }

  /// Mixers or delta nets, attention and one kind of MLP in turns, where the model has a pattern.
  std::string hybrid(int layers) const {
    const auto stated = hybrid_of(model_);
    if (!stated) return "";
    const std::string kinds = stated->delta_net ? "GE*E" : has_experts(model_) ? "ME*M" : "M-*M";
    std::string pattern;
    for (std::int64_t i = 0; i < layers * stated->parts; ++i)
      pattern += kinds[static_cast<std::size_t>(i % 4)];
    return fmt::format(", hybrid: {{pattern: \"{}\"}}", pattern);
  }

  /// Half of the layers, where the model has some of one stream.
  std::string single_layers(int layers) const {
    if (!counts_layers_apart(model_)) return "";
    return fmt::format(", diffusion: {{text: {{single_layers: {}}}}}", layers / 2);
  }

  std::string text() {
    const int layers = stages_ * chunks_ * pick_.between(1, 4);
    const bool tokens = !model_.starts_with("mlp") && !model_.starts_with("vit");
    const std::string images = images_of(model_);
    const std::string sequence = fmt::format(
        "sequence_length: {}, {}", (images.empty() ? 64 : 320) * tensor_ * context_ * 2, images);
    return fmt::format(
        "model: {{base: {}, layers: {}{}{}}}\n{}"
        "training: {{{}global_batch: {}, precision: bf16, optimizer: {}, attention: {}, recompute: "
        "{}, gradient_clipping: {}}}\n{}run: {{steps: 1, warmup: 1}}\n",
        model_, layers, hybrid(layers), single_layers(layers), cluster(), tokens ? sequence : "",
        data_ * stages_ * pick_.between(1, 3), pick_.one_of({"adam", "momentum"}),
        pick_.one_of({"unfused", "flash2"}), pick_.one_of({"none", "selective", "full"}),
        pick_.flip(), parallelism());
  }

 private:
  int power_of_two(int limit) {
    int most = 0;
    while (2 << most <= limit) ++most;
    return 1 << pick_.between(0, most);
  }

  std::string cluster() {
    return fmt::format(
        "cluster: {{name: c, gpu: {}, nodes: {}, gpus_per_node: {}, intra_node: nvlink3, "
        "inter_node: {{topology: {}, nics_per_node: {}, bandwidth: {} Gbit/s, latency: {} us, "
        "nodes_per_leaf: {}, oversubscription: 2}}}}\n",
        pick_.one_of({"a100-80", "h100"}), nodes_, gpus_, pick_.one_of({"rail", "fat_tree"}),
        pick_.divisor_of(gpus_, 8), pick_.between(100, 400), pick_.between(1, 9),
        pick_.between(1, 2));
  }

  std::string parallelism() {
    std::vector<std::string> order{"tp", "cp", "ep", "dp", "pp"};
    if (pick_.flip()) pick_.shuffle(order);
    const int shared = pick_.divisor_of(data_, 16);
    const std::string expert =
        fmt::format("expert: {{degree: {}}}", power_of_two(context_ * data_));
    const Schedule& schedule = *Registry<Schedule>::find(pick_.one_of(Registry<Schedule>::names()));
    const bool overlaps = pick_.flip() || schedule.needs.overlaps;
    return fmt::format(
        "parallelism:\n  order: {}\n  tensor: {}\n  sequence: {}\n"
        "  context: {{degree: {}, kind: {}}}\n{}"
        "  pipeline: {{stages: {}, schedule: {}, chunks: {}, overlap_p2p: {}}}\n"
        "  data: {{sharding: {}, overlap: {}{}}}\n",
        fmt::join(order, "-"), tensor_, tensor_ > 1 && pick_.flip(), context_,
        pick_.one_of({"ring", "all_gather", "all_to_all"}),
        has_experts(model_) ? "  " + expert + "\n" : "", stages_, schedule.name, chunks_, overlaps,
        pick_.one_of({"ddp", "zero1", "zero2", "zero3"}), pick_.flip(),
        shared > 1 && pick_.flip() ? fmt::format(", shard_degree: {}", shared) : "");
  }

  Picker& pick_;
  std::string model_;
  int nodes_, gpus_, tensor_, stages_, context_, data_, chunks_;
};

/// A strategy for that model that the checks accept.
std::optional<Scenario> accepted(Picker& pick, const std::string& model) {
  for (int i = 0; i < kMostTries; ++i) {
    try {
      return parse_scenario(Draw(pick, model).text(), model + ".yaml", Library{{source_folder()}},
                            {}, {known_schedules(), {}, {}});
    } catch (const UserError&) {
    }
  }
  return std::nullopt;
}

/// What of the split this scenario uses, for the record.
void note(const Scenario& s, std::set<std::string>& used) {
  const Parallelism& p = s.parallelism;
  if (p.pipeline.stages > 1) used.insert(p.pipeline.schedule);
  if (p.context.degree > 1) used.insert("context");
  if (p.expert.degree > 1) used.insert("expert");
  if (p.data.shard_degree) used.insert("shard groups");
  if (p.order != RankOrder{}) used.insert("order");
  if (s.data_parallel() > 1) used.insert(std::string{p.data.sharding.name});
}

}  // namespace

TEST_CASE("models of the zoo take equally long folded and unfolded, however they are split") {
  const std::vector<std::string> models = zoo();
  Picker pick(2026);
  std::set<std::string> used;
  for (int i = 0; i < draws(); ++i) {
    const std::string model = pick.one_of(models);
    CAPTURE(model);
    const auto scenario = accepted(pick, model);
    REQUIRE(scenario);
    CAPTURE(to_yaml(*scenario));
    note(*scenario, used);
    const Plan plan = make_plan(*scenario, build(*scenario));
    const std::vector<double> folded = step_ends_in_own_process(plan, {.fold = true});
    const std::vector<double> unfolded = step_ends_in_own_process(plan, {.fold = false});
    REQUIRE(!folded.empty());
    REQUIRE(folded.size() == unfolded.size());
    for (std::size_t step = 0; step < folded.size(); ++step)
      CHECK(std::abs(folded[step] - unfolded[step]) <= kExact * unfolded[step]);
  }
  for (const char* each : {"1f1b", "context", "expert", "order", "shard groups", "zero3"})
    CHECK(used.count(each) == 1);
  MESSAGE("splits used: " << fmt::format("{}", fmt::join(used, ", ")));
}

TEST_CASE("ranks that are alike stay alike, however often their flows meet others") {
  // Tensor groups across nodes that share NICs: each meeting doubles a difference in time.
  const std::string text =
      "model: {base: gpt3-350m, layers: 24}\n"
      "cluster: {name: c, gpu: h100, nodes: 4, gpus_per_node: 4, intra_node: nvlink3, inter_node: "
      "{topology: fat_tree, nics_per_node: 2, bandwidth: 160 Gbit/s, latency: 5 us, "
      "nodes_per_leaf: 1, oversubscription: 2}}\n"
      "training: {sequence_length: 512, global_batch: 4, precision: bf16, attention: flash2, "
      "recompute: full}\n"
      "parallelism: {order: cp-ep-pp-dp-tp, tensor: 2, context: {degree: 2, kind: ring}, "
      "pipeline: {stages: 4, schedule: interleaved, chunks: 2, overlap_p2p: true}, "
      "data: {sharding: zero1, overlap: true}}\n"
      "run: {steps: 1, warmup: 1}\n";
  Scenario scenario = parse_scenario(text, "meetings.yaml", Library{{source_folder()}});
  for (const double sustained : {1.03, 1.04, 1.05, 1.06, 1.07}) {
    CAPTURE(sustained);
    for (GemmProfile& gemm : scenario.cluster.gpu.gemm) gemm.sustained = sustained;
    const Plan plan = make_plan(scenario, build(scenario));
    const std::vector<double> folded = step_ends_in_own_process(plan, {.fold = true});
    const std::vector<double> unfolded = step_ends_in_own_process(plan, {.fold = false});
    REQUIRE(folded.size() == 2);
    REQUIRE(unfolded.size() == 2);
    for (std::size_t step = 0; step < 2; ++step)
      CHECK(std::abs(folded[step] - unfolded[step]) <= kExact * unfolded[step]);
  }
}
