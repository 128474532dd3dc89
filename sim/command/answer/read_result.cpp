// From JSON with places to facts.
#include "sim/command/answer/read_result.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/json_tree.hpp"
#include "sim/core/trim.hpp"

namespace stepsim {
namespace {

using Kind = JsonTree::Kind;

constexpr const char* kSchema = "stepsim.result/1";
constexpr const char* kHowTo = "write one with `stepsim run SCENARIO --format json`";

class ResultReader {
 public:
  ResultReader(const JsonTree& root, Problems& problems) : root_(root), problems_(problems) {}

  ResultFacts read() {
    ResultFacts r;
    r.scenario = text(root_, "scenario");
    r.step_time = Seconds{positive(root_, "step_time_s")};
    r.samples_per_s = positive(root_, "samples_per_s");
    r.tokens_per_s = optional(root_, "tokens_per_s");
    r.model_tflops_per_gpu = optional(root_, "model_tflops_per_gpu").value_or(0);
    r.mfu = optional(root_, "mfu").value_or(0);
    r.hfu = optional(root_, "hfu").value_or(0);
    r.flop_convention = text(root_, "flop_convention");
    if (const JsonTree* causes = map(root_, "breakdown_s", true)) read_causes(*causes, r);
    if (const JsonTree* engine = map(root_, "engine"))
      r.gpus = static_cast<int>(positive(*engine, "ranks_total"));
    if (const JsonTree* memory = map(root_, "memory"))
      r.memory = {Bytes{positive(*memory, "peak_bytes")},
                  Bytes{positive(*memory, "capacity_bytes")}, flag(*memory, "fits")};
    if (const JsonTree* cost = map(root_, "cost"))
      r.cost = {positive(*cost, "per_hour_dollars"), positive(*cost, "per_million_samples_dollars"),
                optional(*cost, "per_million_tokens_dollars")};
    if (const JsonTree* replicas = map(root_, "replicas")) read_replicas(*replicas, r);
    if (const JsonTree* error = map(root_, "expected_error")) read_error(*error, r);
    if (const JsonTree* verdict = map(root_, "verdict")) r.verdict = text(*verdict, "sentence");
    if (const JsonTree* provenance = map(root_, "provenance")) read_provenance(*provenance, r);
    return r;
  }

 private:
  const JsonTree* find(const JsonTree& map, const char* name, bool required) {
    const JsonTree* found = map.find(name);
    if (found == nullptr && required)
      problems_.add(map.place, name, fmt::format("'{}' is missing here", name), kHowTo);
    return found;
  }

  void refuse(const JsonTree& value, const char* name, const char* wanted) {
    problems_.add(value.place, name, fmt::format("'{}' is not {}", name, wanted));
  }

  /// nullptr where it is null or not there.
  const JsonTree* map(const JsonTree& in, const char* name, bool required = false) {
    const JsonTree* found = find(in, name, required);
    if (found == nullptr || (found->is(Kind::null) && !required)) return nullptr;
    if (found->is(Kind::map)) return found;
    refuse(*found, name, "a map");
    return nullptr;
  }

  std::string text(const JsonTree& in, const char* name) {
    const JsonTree* found = find(in, name, true);
    if (found == nullptr) return "";
    if (!found->is(Kind::text)) refuse(*found, name, "a text");
    return found->text;
  }

  bool flag(const JsonTree& in, const char* name) {
    const JsonTree* found = find(in, name, true);
    if (found != nullptr && !found->is(Kind::flag)) refuse(*found, name, "true or false");
    return found != nullptr && found->text == "true";
  }

  double number(const JsonTree& value, const char* name) {
    double read = 0;
    const char* end = value.text.data() + value.text.size();
    const bool whole = value.is(Kind::number) &&
                       std::from_chars(value.text.data(), end, read).ec == std::errc() &&
                       std::isfinite(read);
    if (!whole) refuse(value, name, "a number");
    return read;
  }

  double positive(const JsonTree& in, const char* name) {
    const JsonTree* found = find(in, name, true);
    if (found == nullptr) return 1;
    const double read = number(*found, name);
    if (found->is(Kind::number) && !(read > 0)) refuse(*found, name, "greater than 0");
    return read;
  }

  std::optional<double> optional(const JsonTree& in, const char* name) {
    const JsonTree* found = find(in, name, false);
    if (found == nullptr || found->is(Kind::null)) return std::nullopt;
    return number(*found, name);
  }

  void read_causes(const JsonTree& causes, ResultFacts& r) {
    double sum = 0;
    for (const JsonTree::Member& cause : causes.members) {
      r.causes.emplace_back(cause.name, Seconds{number(cause.value, cause.name.c_str())});
      sum += r.causes.back().second.seconds();
    }
    // Times compare within 1e-9, and each of these numbers is rounded, to a picosecond below one
    // second (digits.hpp).
    const double rounded = 1e-12 * static_cast<double>(causes.members.size() + 1);
    if (std::abs(sum - r.step_time.seconds()) > 1e-9 * r.step_time.seconds() + rounded)
      problems_.add(causes.place, "breakdown_s",
                    fmt::format("the causes sum to {} s, but the step takes {} s", sum,
                                r.step_time.seconds()));
  }

  void read_replicas(const JsonTree& replicas, ResultFacts& r) {
    const JsonTree* steps = find(replicas, "steps_s", true);
    if (steps == nullptr) return;
    if (!steps->is(Kind::list)) return refuse(*steps, "steps_s", "a list");
    for (const JsonTree& step : steps->items) r.replicas.emplace_back(number(step, "steps_s"));
  }

  void read_error(const JsonTree& error, ResultFacts& r) {
    const auto median = optional(error, "median_ape");
    if (!median) return;
    r.expected_error = ResultFacts::Error{.rows = static_cast<int>(positive(error, "rows"))};
    r.expected_error->median = *median;
    r.expected_error->kind.traits = texts(error, "traits");
    r.expected_error->kind.suites = texts(error, "suites");
  }

  std::vector<std::string> texts(const JsonTree& in, const char* name) {
    std::vector<std::string> list;
    const JsonTree* found = find(in, name, true);
    if (found == nullptr) return list;
    if (!found->is(Kind::list)) refuse(*found, name, "a list");
    for (const JsonTree& item : found->items) list.push_back(item.text);
    return list;
  }

  void read_provenance(const JsonTree& provenance, ResultFacts& r) {
    r.version = text(provenance, "version");
    const JsonTree* scenario = find(provenance, "scenario", false);
    if (scenario != nullptr && !scenario->is(Kind::null)) r.yaml = text(provenance, "scenario");
    const JsonTree* hashes = map(provenance, "hashes", true);
    if (hashes == nullptr) return;
    for (const JsonTree::Member& hash : hashes->members) {
      if (!hash.value.is(Kind::text)) refuse(hash.value, hash.name.c_str(), "a text");
      r.hashes.emplace_back(hash.name, hash.value.text);
    }
  }

  const JsonTree& root_;
  Problems& problems_;
};

/// Why it is no result that this version can read; "" when it is one.
std::string refusal(const JsonTree& root) {
  if (!root.is(Kind::map)) return "this is no result of stepsim";
  const JsonTree* schema = root.find("schema");
  if (schema == nullptr) return "this is no result of stepsim: it has no 'schema'";
  if (schema->text == kSchema) return "";
  if (schema->text.starts_with("stepsim.result/"))
    return fmt::format("this is a {}, and this version reads {}", quoted(schema->text), kSchema);
  return fmt::format("this is a {}, not a result ('{}')", quoted(schema->text), kSchema);
}

}  // namespace

bool is_meant_as_result(const Source& source) {
  return source.name.ends_with(".json") || (trimmed(source.text).starts_with("{") &&
                                            source.text.find("\"schema\"") != std::string::npos);
}

ResultFacts read_result(const std::shared_ptr<const Source>& source) {
  Problems problems;
  const auto root = parse_json(source, problems);
  problems.throw_if_any();
  if (const std::string why = refusal(*root); !why.empty()) {
    problems.add(root->place, "", why, kHowTo);
    problems.throw_if_any();
  }
  ResultFacts result = ResultReader(*root, problems).read();
  problems.throw_if_any();
  return result;
}

}  // namespace stepsim
