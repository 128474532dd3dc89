// One file of HTML that shows results, which any browser opens without a network.
//
// A page holds JSON documents as the program prints them, scripts that draw them, and D3
// (d3js.org) with its licence; scripts add shares, rates and differences of
// what the documents have. The scripts are the files beside this one.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/text/output.hpp"

namespace stepsim {

/// A document that a page shows.
struct PageDocument {
  std::string name;  ///< by which the scripts find it: result, timeline
  std::string json;
};

struct HtmlPage {
  std::string kind;   ///< which script draws it: run, sweep, search, ...
  std::string title;  ///< plain text
  std::vector<PageDocument> documents;
};

/// The page as HTML; equal inputs give equal bytes. Documents are compressed (gzip) and written in
/// base64, so that none can end the page.
std::string html_of(const HtmlPage& page);

/// The file that `--html` names; it replaces pages of these kinds, of any version.
Output html_output(const std::string& path, bool force, const std::vector<std::string>& kinds);
/// The title of a page that this program has written, of any version; empty: the file is none.
std::string page_title(const std::string& path);
/// Writes the page to that file, and says so.
void save_page(const Output& output, const HtmlPage& page, std::ostream& notes);

}  // namespace stepsim
