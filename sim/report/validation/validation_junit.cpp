// Writes a validation as JUnit XML, and as annotations of GitHub's checks: what CI servers read.
#include <sstream>

#include <pugixml.hpp>

#include "sim/report/validation.hpp"
#include "sim/report/validation/validation_words.hpp"

namespace stepsim {
namespace {

using Xml = pugi::xml_node;

bool is_about(const Breach& breach, const ValidationRow& row) {
  return breach.line > 0 && breach.line == row.line && breach.file == row.file &&
         breach.suite == row.suite;
}

Xml add_case(Xml& parent, const std::string& suite, const std::string& name) {
  Xml one = parent.append_child("testcase");
  one.append_attribute("classname") = suite.c_str();
  one.append_attribute("name") = name.c_str();
  return one;
}

void add_failure(Xml& one, const Breach& breach) {
  one.append_child("failure").append_attribute("message") = breach.sentence.c_str();
}

/// Adds a row as a case of its suite. Returns whether it failed.
bool add_row(Xml& suite, const ValidationRow& row, const Validation& validation) {
  Xml one = add_case(suite, row.suite, row.label);
  one.append_attribute("file") = row.file.c_str();
  one.append_attribute("line") = row.line;
  for (const Breach& breach : validation.breaches) {
    if (!is_about(breach, row)) continue;
    add_failure(one, breach);
    return true;
  }
  std::string text = row.predicted
                         ? fmt::format("measured {}, predicted {}, {}", time_text(row.measured),
                                       time_text(row.predicted->step), signed_error(row.error()))
                         : "not predicted: " + row.reason;
  if (!row.known.empty()) text += "; known: " + row.known;
  one.append_child("system-out").text().set(text.c_str());
  return false;
}

/// The breach of a limit of a suite as a whole; nullptr: the limit holds.
const Breach* breach_of(const Validation& validation, const std::string& suite,
                        const std::string& limit) {
  for (const Breach& breach : validation.breaches)
    if (breach.suite == suite && breach.limit == limit) return &breach;
  return nullptr;
}

void add_suite(Xml& all, const SuiteResult& result, const Validation& validation) {
  Xml suite = all.append_child("testsuite");
  suite.append_attribute("name") = result.name.c_str();
  int tests = 0, failures = 0;
  for (const ValidationRow& row : result.rows) {
    ++tests;
    failures += add_row(suite, row, validation) ? 1 : 0;
  }
  for (const SuiteLimit& limit : result.limits) {
    if (limit.name == "row") continue;  // a row has a case of its own
    ++tests;
    Xml one = add_case(suite, result.name, "limit of " + limit.name);
    const Breach* breach = breach_of(validation, result.name, limit.name);
    if (breach == nullptr) continue;
    ++failures;
    add_failure(one, *breach);
  }
  for (const Breach& breach : validation.breaches) {
    if (breach.line > 0 || !breach.limit.empty() || breach.suite != result.name) continue;
    ++tests;
    ++failures;
    Xml one = add_case(suite, result.name, breach.sentence);
    add_failure(one, breach);
  }
  suite.append_attribute("tests") = tests;
  suite.append_attribute("failures") = failures;
}

/// A text with those characters escaped that GitHub's commands ask for, in properties more than in
/// messages (actions/toolkit packages/core/src/command.ts).
std::string escaped(const std::string& text, bool is_property) {
  std::string result;
  for (const char c : text) {
    const bool special =
        c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
    result += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return result;
}

}  // namespace

std::string validation_junit(const Validation& validation) {
  pugi::xml_document document;
  Xml all = document.append_child("testsuites");
  for (const SuiteResult& suite : validation.suites) add_suite(all, suite, validation);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

std::string validation_github(const Validation& validation) {
  std::string text;
  for (const Breach& breach : validation.breaches) {
    const std::string where =
        breach.line > 0 ? fmt::format("file={},line={},", escaped(breach.file, true), breach.line)
                        : std::string();
    text += fmt::format("::error {}title={}::{}\n", where, escaped(breach.suite, true),
                        escaped(breach.sentence, false));
  }
  for (const SuiteResult& suite : validation.suites) {
    const Errors& errors = suite.score.all;
    text += fmt::format(
        "::notice title={}::{} rows, mean {}, median {}, 90th percentile {}, bias {}\n",
        escaped(suite.name, true), errors.count, escaped(error_text(errors.mean), false),
        escaped(error_text(errors.median), false), escaped(error_text(errors.p90), false),
        escaped(signed_error(errors.bias), false));
  }
  return text;
}

}  // namespace stepsim
