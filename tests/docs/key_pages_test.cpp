// The pages of docs/scenario/ have every key that the readers declare, and docs/scenario.md lists
// them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/scenario/read/doc_writer.hpp"
#include "sim/text/layout.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

const fs::path kDocs = fs::path(source_folder()) / "docs";
const std::string kBegin =
    "<!-- made from the reader's declarations; "
    "renew with STEPSIM_UPDATE=1 build/tests/docs_keys -->\n";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string preset_words(const std::string& preset) {
  return preset.empty() ? "" : preset == "required" ? "; required" : "; default " + preset;
}

/// An item of a list, which unlike the row of a table goes on in the next line.
std::string item_of(const DocWriter::Row& row) {
  std::string item;
  for (const std::string& line : wrap(fmt::format("**`{}`** ({}{}): {}", row.path, row.type,
                                                  preset_words(row.preset), row.meaning),
                                      116))
    item += (item.empty() ? "- " : "  ") + line + "\n";
  return item;
}

std::string text_of(const KeyPage& page) {
  std::string text = fmt::format("# {}\n\n{}\n{}\n\n", page.title, kBegin, page.lead);
  for (const DocWriter::Row& row : page.rows) text += item_of(row);
  return text;
}

/// Without what follows a full stop or a semicolon.
std::string first_words(const std::string& text) {
  const std::string first = text.substr(0, std::min(text.find(". "), text.find("; ")));
  return first.ends_with('.') ? first.substr(0, first.size() - 1) : first;
}

/// The list of all pages in docs/scenario.md.
std::string index_of(const std::vector<KeyPage>& pages) {
  std::string text = kBegin + "\n| page | keys | what it is |\n|---|---|---|\n";
  for (const KeyPage& page : pages)
    text += fmt::format("| [{0}](scenario/{1}.md) | {2} | {3} |\n", page.title, page.file,
                        page.rows.size(), first_words(page.lead));
  return text + "\n<!-- end of pages -->\n";
}

/// What docs/scenario.md has to be, so that its list is that of the pages.
std::string scenario_document() {
  const std::string text = text_of(kDocs / "scenario.md"), end = "<!-- end of pages -->\n";
  const auto from = text.find(kBegin), to = text.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  return text.substr(0, from) + index_of(key_pages()) + text.substr(to + end.size());
}

/// The documents that are made, by path; those that are there and no page any more are empty.
std::map<fs::path, std::string> made_documents() {
  std::map<fs::path, std::string> made;
  for (const auto& entry : fs::directory_iterator(kDocs / "scenario")) made[entry.path()] = "";
  for (const KeyPage& page : key_pages())
    made[kDocs / "scenario" / (page.file + ".md")] = text_of(page);
  made[kDocs / "scenario.md"] = scenario_document();
  return made;
}

void renew(const fs::path& path, const std::string& text) {
  if (text.empty())
    fs::remove(path);
  else
    std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

TEST_CASE("docs/scenario/ has the keys that the readers declare, and nothing else") {
  for (const auto& document : made_documents()) {
    const auto& path = document.first;
    const auto& text = document.second;
    CAPTURE(path);
    if (std::getenv("STEPSIM_UPDATE") != nullptr) renew(path, text);
    const bool is_fresh = text_of(path) == text;
    CHECK_MESSAGE(is_fresh, "a key has changed: STEPSIM_UPDATE=1 build/tests/docs_keys");
  }
}

TEST_CASE("every key of a document is explained") {
  for (const KeyPage& page : key_pages()) {
    CHECK_FALSE(page.rows.empty());
    for (const DocWriter::Row& row : page.rows) {
      CAPTURE(row.path);
      CHECK_FALSE(row.type.empty());
      CHECK_FALSE(row.meaning.empty());
    }
  }
}
