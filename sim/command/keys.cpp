// Keys by path, by another name, by a word of their meaning.
#include "sim/command/keys.hpp"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"
#include "sim/scenario/read/doc_writer.hpp"
#include "sim/scenario/read/keys.hpp"
#include "sim/scenario/read/other_names.hpp"

namespace stepsim {
namespace {

using Rows = std::vector<DocWriter::Row>;

/// In small letters, with blanks for _ and -.
std::string plain(const std::string& text) {
  std::string letters = in_lower_case(text);
  std::ranges::replace_if(
      letters, [](char c) { return c == '_' || c == '-'; }, ' ');
  return letters;
}

template <class Which>
Rows rows_that(const Which& which) {
  Rows found;
  for (const DocWriter::Row& row : scenario_rows())
    if (which(row)) found.push_back(row);
  return found;
}

/// The key and all below it; a path may begin anywhere: "data.bucket".
Rows rows_of_path(const std::string& path) {
  Rows found = rows_that([&](const auto& row) { return row.path == path; });
  if (found.empty())
    found = rows_that([&](const auto& row) { return row.path.ends_with("." + path); });
  if (found.size() > 1) return found;
  const std::string whole = found.empty() ? path : found.front().path;
  return rows_that([&](const auto& row) { return is_within(row.path, whole); });
}

Rows rows_with_words(const std::string& words) {
  std::istringstream stream(plain(words));
  const std::vector<std::string> wanted(std::istream_iterator<std::string>(stream), {});
  return rows_that([&](const auto& row) {
    const std::string text = plain(row.path + " " + row.meaning);
    return std::ranges::all_of(
        wanted, [&](const std::string& word) { return text.find(word) != std::string::npos; });
  });
}

void print(const DocWriter::Row& row, const Screen& screen, std::ostream& out) {
  std::string facts = row.type;
  if (row.preset == "required")
    facts += "; required";
  else if (!row.preset.empty())
    facts += "; default " + row.preset;
  out << painted(screen, Paint::bold, row.path) << '\n';
  for (const std::string& line : wrap(facts, screen.width - 2)) out << "  " << line << '\n';
  for (const std::string& line : wrap(row.meaning, screen.width - 2)) out << "  " << line << '\n';
}

void print_maps(const Screen& screen, std::ostream& out) {
  for (const DocWriter::Row& row : scenario_rows()) {
    if (row.path.find('.') == std::string::npos) print(row, screen, out);
  }
  out << "\nstepsim keys PATH has the keys below one, stepsim keys WORD those that a word leads "
         "to.\n";
}

std::string nearest_end(const std::string& word) {
  std::vector<std::string> ends;
  for (const DocWriter::Row& row : scenario_rows()) {
    ends.push_back(row.path);
    ends.push_back(row.path.substr(row.path.rfind('.') + 1));
  }
  return closest(word, ends);
}

Rows rows_for(const std::string& wanted, std::ostream& out) {
  Rows of_path = rows_of_path(wanted);
  if (!of_path.empty()) return of_path;
  if (const OtherName* other = other_name(wanted)) {
    const bool has_both = !other->key.empty() && !other->remark.empty();
    out << fmt::format("{}: {}{}{}\n", other->name, other->key, has_both ? ", " : "",
                       other->remark);
    if (other->key.empty()) return {};
    out << '\n';
    return rows_of_path(std::string(other->key));
  }
  return rows_with_words(wanted);
}

}  // namespace

ExitCode keys(const KeysOptions& options, std::ostream& out) {
  if (options.wanted.empty()) {
    print_maps(options.screen, out);
    return ExitCode::ok;
  }
  const Rows rows = rows_for(options.wanted, out);
  if (rows.empty() && other_name(options.wanted) == nullptr) {
    const std::string proposal = nearest_end(options.wanted);
    throw UserError(fmt::format("no key is called {} or says so in its description{}{}",
                                quoted(options.wanted), proposal.empty() ? "" : ", ", proposal));
  }
  for (const DocWriter::Row& row : rows) print(row, options.screen, out);
  return ExitCode::ok;
}

}  // namespace stepsim
