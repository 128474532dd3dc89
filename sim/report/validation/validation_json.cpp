// Writes a validation as JSON: what programs read.
#include "sim/report/json_number.hpp"
#include "sim/report/validation.hpp"
#include "sim/report/validation/validation_words.hpp"
#include "sim/validation/recorded_runs.hpp"

namespace stepsim {
namespace {

void add_errors(Json& json, const Errors& errors) {
  const auto of = [&](double share) { return errors.count > 0 ? number(share) : Json(); };
  json["count"] = errors.count;
  json["mape"] = of(errors.mean);
  json["median_ape"] = of(errors.median);
  json["p90_ape"] = of(errors.p90);
  json["max_ape"] = of(errors.max);
  json["bias"] = of(errors.bias);
}

Json errors_json(const Errors& errors) {
  Json json = Json::object();
  add_errors(json, errors);
  return json;
}

Json row_json(const ValidationRow& row) {
  const bool known = row.predicted.has_value();
  return {{"suite", row.suite},
          {"label", row.label},
          {"file", row.file},
          {"line", row.line},
          {"groups", map_json(row.groups)},
          {"measured_s", number(row.measured)},
          {"predicted_s", known ? number(row.predicted->step) : Json()},
          {"error", known ? number(row.error()) : Json()},
          {"error_unseen", known ? number(row.unseen_error()) : Json()},
          {"known", text_or_null(row.known)},
          {"reason", text_or_null(row.reason)},
          {"memory_fraction", known ? number(row.predicted->memory_share) : Json()},
          {"breakdown_s", known ? causes_json(row.predicted->breakdown) : Json()}};
}

Json groups_json(const Score& score) {
  Json groups = Json::object();
  for (const GroupScore& group : score.groups) {
    Json& json = groups[group.name][group.value];
    add_errors(json, group.all);
    json["without_known"] = errors_json(group.expected);
  }
  return groups;
}

Json worst_json(const Score& score, const std::vector<ValidationRow>& rows) {
  return list_json(score.worst, [&](std::size_t i) {
    const ValidationRow& row = rows[i];
    return Json{{"suite", row.suite},
                {"label", row.label},
                {"error", number(row.error())},
                {"likely_cause", likely_cause(row, rows)},
                {"known", text_or_null(row.known)}};
  });
}

Json growth_json(const std::optional<Growth>& growth) {
  if (!growth) return nullptr;
  return {{"slope_a_doubling", number(growth->slope)},
          {"standard_error", number(growth->uncertainty)},
          {"rows", growth->rows},
          {"jobs", growth->jobs},
          {"sizes", growth->sizes},
          {"split_alike", growth->is_as_split}};
}

/// Each source as if nobody had seen it.
Json sources_json(const std::vector<ValidationRow>& rows) {
  const std::vector<RecordedRuns> runs = recorded_runs(rows);
  const SourceErrors errors = source_errors(runs);
  const auto of = [&](double share) { return errors.sources > 0 ? number(share) : Json(); };
  Json json = errors_json(errors.rows);
  json["sources"] = errors.sources;
  json["mape_of_sources"] = of(errors.mean);
  json["bias_of_sources"] = of(errors.bias);
  json["with_known"] = errors_json(errors.with_known);
  json["coverage_of_80_percent_range"] =
      list_json(band_coverage(runs), [](const BandCoverage& family) {
        return Json{{"family", family.family},
                    {"rows", family.rows},
                    {"share", number(family.share())},
                    {"width", number(family.width)}};
      });
  return json;
}

Json choices_json(const Choices& choices, const std::vector<ValidationRow>& rows) {
  const auto of = [&](double share) { return choices.jobs > 0 ? number(share) : Json(); };
  const auto label = [&](std::size_t row) {
    return choices.jobs > 0 ? Json(rows[row].label) : Json();
  };
  Json pairs = Json::array();
  for (std::size_t i = 0; i < kPairsFrom.size(); ++i)
    pairs.push_back({{"apart_from", number(kPairsFrom[i])},
                     {"pairs", choices.pairs[i].pairs},
                     {"in_order", choices.pairs[i].in_order}});
  return {{"jobs", choices.jobs},
          {"ways", choices.ways},
          {"fastest_chosen", choices.fastest},
          {"mean_loss", of(choices.loss)},
          {"mean_loss_blind", of(choices.blind_loss)},
          {"max_loss", of(choices.worst.loss)},
          {"worst_choice", label(choices.worst.chosen)},
          {"instead_of", label(choices.worst.best)},
          {"pairs", pairs}};
}

void add_score(Json& json, const Score& score, const std::vector<ValidationRow>& rows) {
  add_errors(json, score.all);
  json["without_known"] = errors_json(score.expected);
  json["without_known"]["unseen"] = errors_json(score.unseen);
  json["choices"] = choices_json(score.choices, rows);
  json["choices"]["without_known"] = choices_json(score.expected_choices, rows);
  json["not_predicted"] = score.unpredicted.size();
  json["predicted_not_to_fit"] = score.not_fitting.size();
  json["groups"] = groups_json(score);
  json["worst"] = worst_json(score, rows);
}

Json limit_json(const SuiteLimit& limit) {
  return {{"name", limit.name},
          {"limit", number(limit.limit)},
          {"actual", number(limit.actual)},
          {"holds", limit.holds()}};
}

Json suite_json(const SuiteResult& suite) {
  Json json{{"suite", suite.name},
            {"title", suite.title},
            {"source", suite.source},
            {"growth", growth_json(suite.score.growth)},
            {"assumptions", suite.assumptions},
            {"limits", list_json(suite.limits, limit_json)}};
  add_score(json, suite.score, suite.rows);
  return json;
}

Json breach_json(const Breach& breach) {
  return {{"suite", breach.suite}, {"sentence", breach.sentence}};
}

}  // namespace

std::string validation_json(const Validation& validation) {
  Json json{{"schema", "stepsim.validation/1"}, {"interrupted", validation.interrupted}};
  add_score(json, validation.total, validation.rows);
  json["sources_left_out"] = sources_json(validation.rows);
  json["breaches"] = list_json(validation.breaches, breach_json);
  json["suites"] = list_json(validation.suites, suite_json);
  json["rows"] = list_json(validation.rows, row_json);
  return json_text(json);
}

}  // namespace stepsim
