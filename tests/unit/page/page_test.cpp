// A page as a text: what it holds comes back, what stands in it cannot end it.
#include "sim/page/page.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include "sim/core/error.hpp"
#include "sim/text/file.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

HtmlPage page_with(const std::string& title, const std::string& json) {
  return {.kind = "run", .title = title, .documents = {{"result", json}}};
}

/// What stands between the script's tags of a document.
std::string packed(const std::string& html) {
  const std::string begin = "data-document=\"result\">";
  const std::size_t from = html.find(begin) + begin.size();
  return html.substr(from, html.find("</script>", from) - from);
}

std::string unpacked(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char c : base64) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
  std::string text(1 << 16, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

}  // namespace

TEST_CASE("documents of any length come back from a page as they were") {
  std::string json;
  for (int length = 0; length < 40; ++length) {
    json += static_cast<char>('!' + length);
    CHECK(unpacked(packed(html_of(page_with("a", json)))) == json);
  }
  CHECK(html_of(page_with("a", json)) == html_of(page_with("a", json)));
}

TEST_CASE("a document cannot end its script, and a title is a text that is read again") {
  const TemporaryFolder folder;
  const std::string title = "<img src=x> & \"</title>\"";
  const std::string html = html_of(page_with(title, "</script><script>alert(1)</script>"));
  CHECK(html.find("alert(1)") == std::string::npos);
  CHECK(html.find("<img src=x>") == std::string::npos);
  save_file(html_output(folder.file("page.html"), false, {"run"}), html);
  CHECK(page_title(folder.file("page.html")) == title);
  save_file(html_output(folder.file("page.html"), false, {"run"}), html_of(page_with("b", "{}")));
  CHECK(page_title(folder.file("page.html")) == "b");
  CHECK(page_title(folder.file("no.html")).empty());
  // A page of another command is somebody else's.
  CHECK_THROWS_AS(check_outputs({html_output(folder.file("page.html"), false, {"sweep"})}),
                  UserError);
  CHECK_NOTHROW(check_outputs({html_output(folder.file("page.html"), true, {"sweep"})}));
}
