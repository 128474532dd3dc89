// Axes of pictures: scales, round values, labels that do not touch.
#include "sim/report/picture/plot_axis.hpp"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

/// Labels at equal distances over so many pixels.
std::vector<PlotLabel> labels_over(double pixels, const std::vector<std::string>& texts) {
  std::vector<PlotLabel> labels;
  const double distance = pixels / static_cast<double>(texts.size() - 1);
  for (std::size_t i = 0; i < texts.size(); ++i)
    labels.push_back({distance * static_cast<double>(i), text_width(texts[i]), texts[i]});
  return labels;
}

std::vector<std::string> multiples(int count, int step, const std::string& unit) {
  std::vector<std::string> texts;
  for (int i = 1; i <= count; ++i) texts.push_back(std::to_string(i * step) + unit);
  return texts;
}

std::vector<std::string> shown(const std::vector<PlotLabel>& labels) {
  std::vector<std::string> texts;
  for (const std::size_t place : readable(labels)) texts.push_back(labels[place].text);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("an axis of values is logarithmic for multiples and for more than a factor of 20") {
  CHECK(scale_along({1, 2, 4, 8}, 0, 100).is_log);
  CHECK(scale_along({1, 5, 21}, 0, 100).is_log);
  CHECK_FALSE(scale_along({1, 2, 3}, 0, 100).is_log);
  CHECK_FALSE(scale_along({1, 2}, 0, 100).is_log);
  CHECK_FALSE(scale_along({0, 1, 100}, 0, 100).is_log);
  CHECK_FALSE(scale_along({-4, -2, -1}, 0, 100).is_log);
}

TEST_CASE("a scale puts its ends at the ends and equal steps at equal distances") {
  const PlotScale linear = scale_along({10, 20, 25}, 100, 400);
  CHECK(linear.at(10) == doctest::Approx(100));
  CHECK(linear.at(20) == doctest::Approx(300));
  CHECK(linear.at(25) == doctest::Approx(400));
  const PlotScale log = scale_along({1, 10, 100}, 0, 300);
  CHECK(log.at(10) == doctest::Approx(150));
  CHECK(scale_along({7}, 0, 300).at(7) == doctest::Approx(150));
}

TEST_CASE("results that are alike have an axis that begins at a round value above 0") {
  const PlotScale scale = scale_of_results({0.0241, 0.0312}, 1e-3, true, 300, 0);
  CHECK_FALSE(scale.is_log);
  CHECK(scale.low == doctest::Approx(0.022));
  CHECK(scale.high == doctest::Approx(0.032));
  // Below the best, which is at the bottom, there is room for words.
  CHECK(scale.at(scale.low) - scale.at(0.0241) > 40);
}

TEST_CASE("room for words is above the best where more is better") {
  const PlotScale scale = scale_of_results({0.40, 0.50}, 0.01, false, 300, 0);
  CHECK(scale.at(0.50) - scale.at(scale.high) > 30);
}

TEST_CASE(
    "results that differ by a factor of three have an axis from 0, by ten a logarithmic one") {
  CHECK(scale_of_results({1, 3}, 1, true, 300, 0).low == 0);
  const PlotScale log = scale_of_results({1, 10}, 1, true, 300, 0);
  CHECK(log.is_log);
  CHECK(log.low < 1);
  CHECK(log.high > 10);
}

TEST_CASE("differences that nobody would notice do not fill the picture") {
  const PlotScale scale = scale_of_results({1.0, 1.001}, 1, true, 300, 0);
  CHECK(std::abs(scale.at(1.0) - scale.at(1.001)) < 300 * 0.03);
}

TEST_CASE("round values are multiples of the unit") {
  using Values = std::vector<double>;
  const PlotScale linear{.low = 22, .high = 32};
  CHECK(round_values(linear, 1) == Values{22, 24, 26, 28, 30, 32});
  CHECK(round_values({.low = 0, .high = 3072}, 1024) == Values{0, 1024, 2048, 3072});
  CHECK(round_values({.low = 0.9, .high = 60, .is_log = true}, 1) == Values{1, 2, 5, 10, 20, 50});
  CHECK(round_values({.low = 0.9, .high = 1e5, .is_log = true}, 1) ==
        Values{1, 10, 100, 1e3, 1e4, 1e5});
  CHECK_FALSE(std::signbit(round_values({.low = 0, .high = 10}, 1).front()));
}

TEST_CASE("all labels stand where they have room") {
  CHECK(shown(labels_over(700, {"1", "2", "4", "8"})) == Texts{"1", "2", "4", "8"});
}

TEST_CASE("of labels without room, those stand that one would count") {
  CHECK(shown(labels_over(600, multiples(20, 5, " MiB"))) == multiples(10, 10, " MiB"));
  CHECK(shown(labels_over(600, multiples(100, 1, ""))) == multiples(20, 5, ""));
  CHECK(shown(labels_over(650, multiples(40, 50, " GB/s"))) == multiples(8, 250, " GB/s"));
}

TEST_CASE("every second label stands of powers of two") {
  const Texts powers{"1 MiB",  "2 MiB",   "4 MiB",   "8 MiB",   "16 MiB",  "32 MiB",
                     "64 MiB", "128 MiB", "256 MiB", "512 MiB", "1024 MiB"};
  CHECK(shown(labels_over(600, powers)) == Texts{"2 MiB", "8 MiB", "32 MiB", "128 MiB", "512 MiB"});
}

TEST_CASE("of unequal distances, round numbers stand, and no labels touch") {
  std::vector<PlotLabel> labels;
  for (const std::string& text : multiples(100, 1, ""))
    labels.push_back({600 * std::log10(std::stod(text)) / 2, text_width(text), text});
  const auto places = readable(labels);
  for (std::size_t i = 1; i < places.size(); ++i)
    CHECK(labels[places[i]].at - labels[places[i - 1]].at >
          (labels[places[i]].width + labels[places[i - 1]].width) / 2);
  const Texts texts = shown(labels);
  for (const char* round : {"1", "2", "5", "10", "20", "50", "100"})
    CHECK(std::find(texts.begin(), texts.end(), round) != texts.end());
}

TEST_CASE("one label stands where there is room for one") {
  CHECK(shown(labels_over(5, {"zero1", "zero2"})).size() == 1);
}

TEST_CASE("a long text is cut between letters") {
  CHECK(shortened("bucket", 6) == "bucket");
  CHECK(shortened("bucket_size", 9) == "bucket...");
  CHECK(shortened("\u00e4\u00f6\u00fc\u00e4\u00f6", 4) == "\u00e4...");
}
