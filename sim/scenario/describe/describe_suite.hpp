// The keys of a validation suite (see describe.hpp for how they are used).
#pragma once

#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/suite/suite.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, MeasuredTime& m) {
  io.phrase("value", m.value, required(), "the time of a step");
  io.field("unit", m.unit, any, "of it: s, ms, us; may stand behind the value instead");
}

template <class Io>
void describe(Io& io, Tolerance& t) {
  io.field("row", t.row, between(0, 10), "error of any row");
  io.field("mean", t.mean, between(0, 10), "mean of the errors' absolute values");
  io.field("median", t.median, between(0, 10), "their median");
  io.field("p90", t.p90, between(0, 10), "their 90th percentile");
  io.field("bias", t.bias, between(0, 10), "mean of the errors with their signs, up or down");
}

template <class Io>
void describe(Io& io, KnownGap& k) {
  io.phrase("where", k.where, required(), "condition for the rows");
  io.field("reason", k.reason, required(), "why they are not expected to be met");
}

// Times of a step have limits (suite_runs.cpp), and so have what predictions are off.
inline constexpr Rules any_size = between(0, 1e9);
inline constexpr Rules any_bias = between(-1, 1e9);
inline constexpr Rules any_slope = between(-1e9, 1e9);

template <class Io>
void describe(Io& io, RecordedErrors& r) {
  io.field("suite", r.suite, required(), "its short name");
  io.field("name", r.name, any, "of the group; absent: the whole suite");
  io.field("value", r.value, any, "that its rows share");
  io.field("rows", r.rows, required(large_count), "how many");
  io.field("mean", r.mean, required(any_size), "of the errors' absolute values");
  io.field("median", r.median, required(any_size), "their median");
  io.field("p90", r.p90, required(any_size), "their 90th percentile");
  io.field("max", r.max, required(any_size), "the largest of them");
  io.field("bias", r.bias, required(any_bias), "mean of the errors with their signs");
  io.field("not_fitting", r.not_fitting, any, "rows that are predicted not to fit in memory");
}

template <class Io>
void describe(Io& io, RecordedChoices& r) {
  io.field("suite", r.suite, required(), "its short name");
  io.field("with_known", r.with_known, any, "also rows that are known not to be met");
  io.field("jobs", r.jobs, required(non_negative), "measured in several ways");
  io.field("ways", r.ways, required(non_negative), "of all jobs");
  io.field("fastest", r.fastest, required(non_negative),
           "jobs whose predicted best was the fastest");
  io.field("loss", r.loss, required(any_size),
           "mean time of predicted bests over the fastest, less one");
  io.field("blind_loss", r.blind_loss, required(any_size), "the same of ways taken blindly");
  io.field("largest_loss", r.largest_loss, required(any_size), "of predicted bests");
  io.field("pairs", r.pairs, required(non_negative), "of ways, up to 2, 5, 10 % and further apart");
  io.field("in_order", r.in_order, required(non_negative), "of these, as predicted");
}

template <class Io>
void describe(Io& io, RecordedGrowth& r) {
  io.field("suite", r.suite, required(), "its short name");
  io.field("rows", r.rows, required(non_negative), "of jobs on several numbers of GPUs");
  io.field("jobs", r.jobs, required(non_negative), "that were run on several numbers of GPUs");
  io.field("sizes", r.sizes, required(non_negative), "numbers of GPUs");
  io.field("slope", r.slope, required(any_slope), "of errors with signs, a doubling of GPUs");
  io.field("uncertainty", r.uncertainty, required(any_size), "standard error of the slope");
  io.field("as_split", r.as_split, any, "whether jobs are split alike on all numbers of GPUs");
}

template <class Io>
void describe(Io& io, ErrorRecord& r) {
  io.list("groups", r.groups, "one for each suite and each of its groups");
  io.list("growth", r.growth, "one for each suite with three numbers of GPUs");
  io.list("choices", r.choices, "two for each suite that has any: without known rows, and with");
}

template <class Io>
void describe(Io& io, Suite& s) {
  io.fallback(s.name, s.name, "the file's name");
  io.field("suite", s.name, any, "a short name, for reports and the record");
  io.field("title", s.title, required(), "what was measured, in one line");
  io.field("source", s.source, required(), "where: repository@commit:path, or a paper");
  io.fallback(s.publisher, s.name, "its name");
  io.field("publisher", s.publisher, any,
           "who measured: suites of one publisher are one source, which is left out as a whole");
  io.field("assumptions", s.assumptions, any,
           "what the source leaves unsaid, and what is taken instead; holds for all rows");
  io.verbatim("scenario", s.scenario, required(),
              "the base: what is the same for all rows; a map, or a path to a .yaml");
  io.field("table", s.table, any, "file of separated values beside the suite");
  io.verbatim("rows", s.rows, any, "the table as a list of maps, instead of a file");
  io.phrase("where", s.where, any, "condition for rows that are used; absent: all");
  io.phrases("map", s.map, "scenario path: its value; \"\" leaves what the base says");
  io.phrases("unseen", s.unseen,
             "over `map`: values without what the publisher measured of its own machines");
  io.section("measured", "value", s.measured, "what was measured");
  io.phrase("label", s.label, any, "name of a row in reports; absent: its line");
  io.phrases(
      "groups", s.groups,
      "name: value; rows that share one are scored together too; `software` keeps jobs apart");
  io.section("tolerance", s.tolerance, "limits of errors, of rows that are not `known`");
  io.list("known", s.known, "rows that are not expected to be met; scores are with and without");
}

}  // namespace stepsim
