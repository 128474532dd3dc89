// Writes a comparison as JSON. Values are in base SI units, and each key says its unit.
#include "sim/report/comparison/comparison_report.hpp"
#include "sim/report/json_number.hpp"

namespace stepsim {
namespace {

Json memory_of(const ResultFacts& result) {
  if (!result.memory) return nullptr;
  return {{"peak_bytes", number(result.memory->peak)},
          {"capacity_bytes", number(result.memory->capacity)},
          {"fits", result.memory->fits}};
}

Json cost_of(const ResultFacts& result) {
  if (!result.cost) return nullptr;
  return {{"per_hour_dollars", number(result.cost->per_hour)},
          {"per_million_tokens_dollars", number(result.cost->per_million_tokens)},
          {"per_million_samples_dollars", number(result.cost->per_million_samples)}};
}

Json run_of(const Comparison& c, std::size_t i) {
  const Contender& run = c.runs[i];
  const ResultFacts& r = run.result;
  return {{"label", run.label},
          {"origin", origin_of(c, i)},
          {"scenario", r.scenario},
          {"file", run.file},
          {"is_result", run.is_result},
          {"settings", run.settings},
          {"changes", run.changes},
          {"step_time_s", number(r.step_time)},
          {"mean_step_s", number(r.mean())},
          {"replicas", r.replicas.empty() ? 1 : r.replicas.size()},
          {"tokens_per_s", number(r.tokens_per_s)},
          {"samples_per_s", number(r.samples_per_s)},
          {"gpus", r.gpus ? Json(*r.gpus) : Json()},
          {"model_tflops_per_gpu", number(r.model_tflops_per_gpu)},
          {"mfu", number(r.mfu)},
          {"hfu", number(r.hfu)},
          {"breakdown_s", map_json(r.causes, [](Seconds time) { return number(time); })},
          {"memory", memory_of(r)},
          {"cost", cost_of(r)},
          {"median_ape", r.expected_error ? number(r.expected_error->median) : Json()},
          {"verdict", r.verdict},
          {"version", r.version},
          {"hashes", map_json(r.hashes)}};
}

Json input_of(const InputDifference& difference) {
  const auto value_of = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"key", difference.key}, {"values", list_json(difference.values, value_of)}};
}

Json test_of(const Difference& difference) {
  if (!difference.test) return nullptr;
  const Welch& test = *difference.test;
  return {{"replicas", {test.first, test.second}},
          {"standard_error_s", number(test.error)},
          {"degrees_of_freedom", number(test.degrees)},
          {"p_value", test.p},  // not rounded, because it may lie far below any number of decimals
          {"significant", test.is_significant()},
          {"visible_s", number(test.visible)}};
}

Json pairs_of(const Difference& difference) {
  if (!difference.pairs) return nullptr;
  const PairErrors& pairs = *difference.pairs;
  return {{"pairs", pairs.pairs},
          {"suites", pairs.suites},
          {"median_ape", number(pairs.median)},
          {"right_order_fraction", number(pairs.in_order(difference.now / difference.before))}};
}

Json difference_of(const Comparison& c, std::size_t i) {
  const Difference& difference = c.differences[i - 1];
  Json causes = Json::object();
  for (const CauseDifference& cause : difference.causes)
    causes[cause.cause] = number(cause.difference());
  return {{"label", c.runs[i].label},
          {"reference", c.runs.front().label},
          {"sentence", remarks_on(c)[i - 1].text},
          {"scale", number(difference.scale)},
          {"before_s", number(difference.before)},
          {"now_s", number(difference.now)},
          {"difference_s", number(difference.now - difference.before)},
          {"fraction", number(difference.fraction())},
          {"causes_s", causes},
          {"causes_sum_s", number(difference.of_causes())},
          {"test", test_of(difference)},
          {"measured_pairs", pairs_of(difference)}};
}

Json baseline_of(const Comparison& c) {
  if (!c.baseline) return nullptr;
  const BaselineJudgement& judgement = *c.baseline;
  return {{"tolerance", number(judgement.tolerance)},  {"met", judgement.is_met()},
          {"improved", judgement.has_improved()},      {"slower", judgement.is_slower},
          {"needs_more_memory", judgement.needs_more}, {"fits_no_more", judgement.fits_no_more}};
}

Json remark_json(const Remark& remark) { return {{"about", remark.about}, {"text", remark.text}}; }

}  // namespace

std::string comparison_json(const Comparison& c) {
  Json runs = Json::array(), differences = Json::array();
  for (std::size_t i = 0; i < c.runs.size(); ++i) runs.push_back(run_of(c, i));
  for (std::size_t i = 1; i < c.runs.size(); ++i) differences.push_back(difference_of(c, i));
  const Json json{{"schema", "stepsim.comparison/1"},
                  {"runs", runs},
                  {"inputs", list_json(c.inputs, input_of)},
                  {"hashes", list_json(c.hashes, input_of)},
                  {"differences", differences},
                  {"baseline", baseline_of(c)},
                  {"remarks", list_json(remarks_on(c), remark_json)}};
  return json_text(json);
}

}  // namespace stepsim
