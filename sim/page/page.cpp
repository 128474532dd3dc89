// Joins documents, scripts and styles to one file.
#include "sim/page/page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "sim/core/error.hpp"
#include "sim/core/version.hpp"
#include "sim/page/page_assets.hpp"
#include "sim/text/file.hpp"

namespace stepsim {
namespace {

constexpr std::string_view kHead =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"generator\" content=\"stepsim";

/// Styles stand before a page says of which kind it is.
const std::size_t kMostOfHead = 4096 + page_assets::styles.size();

std::string kind_of(const std::string& kind) {
  return fmt::format("<body data-kind=\"{}\">", kind);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string unescaped(std::string text) {
  constexpr std::array<std::pair<std::string_view, char>, 4> kNames{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&amp;", '&'}}};
  for (const auto& [name, sign] : kNames) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; ++at)
      text.replace(at, name.size(), 1, sign);
  }
  return text;
}

/// The gzip format (RFC 1952), without a name and a date.
std::string compressed(const std::string& text) {
  if (text.size() > std::numeric_limits<uInt>::max())
    throw UserError(fmt::format("a page of {} GB is more than a browser opens", text.size() >> 30));
  constexpr int kGzip = 15 + 16;  // zlib's largest window, with a gzip header (zlib.h)
  constexpr int kMemory = 9;      // as much as zlib uses for speed
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) !=
      Z_OK)
    throw std::runtime_error("zlib could not begin to compress a page");
  std::string result(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  std::string input = text;  // zlib reads through a pointer that is not const
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const int outcome = deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  if (outcome != Z_STREAM_END) throw std::runtime_error("zlib could not compress a page");
  return result;
}

/// RFC 4648, section 4.
std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? std::uint32_t{static_cast<unsigned char>(bytes[at])} : 0U;
    };
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    result += kDigits[three >> 18];
    result += kDigits[three >> 12 & 63];
    result += i + 1 < bytes.size() ? kDigits[three >> 6 & 63] : '=';
    result += i + 2 < bytes.size() ? kDigits[three & 63] : '=';
  }
  return result;
}

}  // namespace

std::string html_of(const HtmlPage& page) {
  std::string html(kHead);
  html += fmt::format(
      " {}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n{}\n"
      "<main id=\"page\"><noscript>This page is drawn by scripts, and they are switched off."
      "</noscript></main>\n",
      kVersion, escaped(page.title), page_assets::styles, kind_of(page.kind));
  for (const PageDocument& document : page.documents) {
    html += fmt::format("<script type=\"application/gzip\" data-document=\"{}\">{}</script>\n",
                        escaped(document.name), base64(compressed(document.json)));
  }
  html += fmt::format("<!--\nD3\n\n{}-->\n<script>{}</script>\n<script>\n{}</script>\n",
                      page_assets::d3_licence, page_assets::d3, page_assets::scripts);
  return html + "</body>\n</html>\n";
}

Output html_output(const std::string& path, bool force, const std::vector<std::string>& kinds) {
  const auto made = [kinds](const std::string& file) {
    const std::string head = beginning_of(file, kMostOfHead);
    return head.starts_with(kHead) && std::ranges::any_of(kinds, [&](const std::string& kind) {
             return head.find(kind_of(kind)) != std::string::npos;
           });
  };
  const Maker maker{.as = fmt::format("stepsim's page of {}", kinds.front()), .made = made};
  return {.role = "--html", .path = path, .maker = maker, .force = force};
}

std::string page_title(const std::string& path) {
  constexpr std::string_view kBegin = "<title>";
  const std::string text = beginning_of(path, kMostOfHead);
  const std::size_t title = text.find(kBegin);
  const std::size_t end = text.find("</title>");
  if (!text.starts_with(kHead) || title >= end || end == std::string::npos) return "";
  return unescaped(text.substr(title + kBegin.size(), end - title - kBegin.size()));
}

void save_page(const Output& output, const HtmlPage& page, std::ostream& notes) {
  save_file(output, html_of(page));
  notes << fmt::format("page in {}: open it in a browser\n", output.path);
}

}  // namespace stepsim
