// Pictures of sweeps: what they show of each point, and what they say.
#include <cmath>
#include <regex>
#include <sstream>

#include <doctest/doctest.h>
#include <pugixml.hpp>

#include "tests/unit/report/sample_sweep.hpp"

using namespace stepsim;

namespace {

using Places = std::vector<std::size_t>;

/// A picture as XML, and what it says.
struct Seen {
  explicit Seen(const SweepAnswer& answer) : svg(sweep_plot(answer)) {
    REQUIRE(document.load_string(svg.c_str()));
  }

  /// The elements called `name`, at any depth, that have the class `klass`; of any class where it
  /// is empty.
  std::vector<pugi::xml_node> all(const std::string& name, const std::string& klass = "") const {
    std::vector<pugi::xml_node> nodes;
    const std::string path =
        "//" + name + (klass.empty() ? "" : "[contains(concat(' ',@class,' '),' " + klass + " ')]");
    for (const auto& found : document.select_nodes(path.c_str())) nodes.push_back(found.node());
    return nodes;
  }

  /// The words of all lines, with blanks between them.
  std::string words() const {
    std::string words;
    for (const auto& node : all("text")) words += std::string(node.child_value()) + " ";
    return std::regex_replace(words, std::regex("\u00a0"), " ");
  }

  bool says(const std::string& text) const { return words().find(text) != std::string::npos; }

  std::string svg;
  pugi::xml_document document;
};

double number(const pugi::xml_node& node, const char* name) {
  return node.attribute(name).as_double();
}

std::string title(const pugi::xml_node& node) { return node.child_value("title"); }

const SweepAxis& bucket_axis() {
  static const SweepAxis axis =
      axis_of("frameworks.ddp.bucket_size", {"5 MiB", "15 MiB", "25 MiB", "35 MiB", "45 MiB"});
  return axis;
}

/// The best is the third; the fourth is as good.
Outcome bucket_outcome(const Places& places) {
  constexpr std::array kSteps{0.0260, 0.0230, 0.0220, 0.0221, 0.0240};
  return outcome_of(kSteps.at(places[0]));
}

const Outcome& refused() {
  static const Outcome outcome =
      without_numbers(PointState::refused, "3 does not divide 32 \"heads\" & <more>");
  return outcome;
}

}  // namespace

TEST_CASE("a line has a dot for each point, the higher the slower") {
  const Seen seen(sample_sweep({bucket_axis()}, "step_time", bucket_outcome));
  const auto dots = seen.all("circle", "dot");
  REQUIRE(dots.size() == 5);
  for (std::size_t i = 1; i < dots.size(); ++i) {
    CHECK(number(dots[i], "cx") > number(dots[i - 1], "cx"));
    const bool slower = bucket_outcome({i}).numbers->step > bucket_outcome({i - 1}).numbers->step;
    CHECK((number(dots[i], "cy") < number(dots[i - 1], "cy")) == slower);
  }
  CHECK(title(dots[0]) == "5 MiB: 26.0 ms, +18.2 %");
  CHECK(title(dots[2]) == "25 MiB: 22.0 ms, best");
  CHECK(seen.says("Step time over bucket_size"));
  CHECK(seen.says("frameworks.ddp.bucket_size"));
  CHECK(seen.says("gpt3-175b: 5 points, 5 ok"));
  CHECK(seen.says("15 MiB"));
  CHECK(seen.says("24 ms"));
}

TEST_CASE("the best point of a line has a ring and words, its flat range a ground") {
  const Seen seen(sample_sweep({bucket_axis()}, "step_time", bucket_outcome));
  const auto dots = seen.all("circle", "dot"), rings = seen.all("circle", "ring");
  REQUIRE(rings.size() == 1);
  CHECK(number(rings[0], "cx") == number(dots[2], "cx"));
  CHECK(number(rings[0], "cy") == number(dots[2], "cy"));
  const auto grounds = seen.all("rect", "flat");
  REQUIRE(grounds.size() == 1);
  const double begin = number(grounds[0], "x"), end = begin + number(grounds[0], "width");
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const double x = number(dots[i], "cx");
    CHECK((begin < x && x < end) == (i == 2 || i == 3));
  }
  CHECK(seen.says("22.0 ms at 25 MiB"));
  CHECK(seen.says("Best bucket_size: 25 MiB; anything from 25 MiB to 35 MiB is within 1 %."));
}

TEST_CASE("an axis that does not begin at 0 says where it begins") {
  CHECK(Seen(sample_sweep({bucket_axis()}, "step_time", bucket_outcome))
            .says("The axis of step time begins at 21 ms, not at 0."));
  const auto wide = [](const Places& p) { return outcome_of(0.02 * double(1 + p[0])); };
  const Seen zero(sample_sweep({bucket_axis()}, "step_time", wide));
  CHECK_FALSE(zero.says("begins at"));
  CHECK(zero.says("0 ms"));
  const auto wider = [](const Places& p) { return outcome_of(0.02 * std::pow(3, p[0])); };
  CHECK(Seen(sample_sweep({bucket_axis()}, "step_time", wider))
            .says("The axis of step time is logarithmic."));
}

TEST_CASE("values that were not given in order stand in order") {
  const SweepAxis axis = axis_of("training.micro_batch", {"8", "1", "4", "2"});
  const Seen seen(sample_sweep({axis}, "step_time", [](const Places&) { return outcome_of(1); }));
  const auto dots = seen.all("circle", "dot");
  REQUIRE(dots.size() == 4);
  CHECK(title(dots[0]).starts_with("1:"));
  CHECK(title(dots[3]).starts_with("8:"));
}

TEST_CASE("what does not fit is hollow at its value, what has none is a cross with its reason") {
  const Seen seen(sample_sweep({bucket_axis()}, "step_time", [](const Places& p) {
    if (p[0] == 1) return refused();
    return p[0] == 4 ? outcome_of(0.0200, PointState::too_large) : bucket_outcome(p);
  }));
  CHECK(seen.all("circle", "dot").size() == 3);
  const auto hollow = seen.all("circle", "hollow");
  REQUIRE(hollow.size() == 1);
  CHECK(title(hollow[0]) ==
        "45 MiB: 20.0 ms, -9.1 %, too large: needs 96.0 GiB, but a GPU has 80.0 GiB");
  CHECK(number(hollow[0], "cy") > number(seen.all("circle", "ring")[0], "cy"));
  const auto crosses = seen.all("path", "cross");
  REQUIRE(crosses.size() == 1);
  CHECK(title(crosses[0]) == "15 MiB: refused: 3 does not divide 32 \"heads\" & <more>");
  CHECK(seen.says("Hollow: does not fit the memory of a GPU."));
  CHECK(seen.says("Crosses: 1 refused."));
  CHECK(seen.says("3 ok, 1 refused, 1 too large"));
}

TEST_CASE("the line is broken at points without a value, and dashed to those that do not fit") {
  const auto lines_with = [](const Outcome& third) {
    const Seen seen(sample_sweep({bucket_axis()}, "step_time", [&](const Places& p) {
      return p[0] == 2 ? third : bucket_outcome(p);
    }));
    std::vector<std::string> lines;
    for (const auto& node : seen.all("path", "line"))
      lines.push_back(std::string(node.attribute("class").value()) + " " +
                      std::regex_replace(node.attribute("d").value(), std::regex("[^ML]"), ""));
    return lines;
  };
  using Lines = std::vector<std::string>;
  CHECK(lines_with(bucket_outcome({2})) == Lines{"line MLLLL"});
  CHECK(lines_with(refused()) == Lines{"line MLML"});
  CHECK(lines_with(outcome_of(0.03, PointState::too_large)) ==
        Lines{"line broken MLML", "line MLML"});
}

TEST_CASE("an axis of words has bars in proportion, from 0") {
  const SweepAxis axis = axis_of("parallelism.sharding", {"ddp", "zero1", "zero2", "zero3"});
  const Seen seen(sample_sweep({axis}, "step_time", [](const Places& p) {
    if (p[0] == 2) return refused();
    return outcome_of(p[0] == 0   ? 0.04
                      : p[0] == 1 ? 0.02
                                  : 0.03,
                      p[0] == 3 ? PointState::too_large : PointState::ok);
  }));
  const auto other = seen.all("rect", "dot"), best = seen.all("rect", "best");
  const auto hollow = seen.all("rect", "hollow");
  REQUIRE(other.size() == 1);
  REQUIRE(best.size() == 1);
  REQUIRE(hollow.size() == 1);
  const double longest = number(other[0], "width");
  CHECK(number(best[0], "width") == doctest::Approx(longest / 2).epsilon(1e-3));
  CHECK(number(hollow[0], "width") == doctest::Approx(longest * 3 / 4).epsilon(1e-3));
  CHECK(seen.says("ddp 40.0 ms, +100.0 % zero1 20.0 ms, best zero2 refused zero3 30.0 ms"));
}

TEST_CASE("linked keys have bars, for they may share their first number") {
  SweepAxis axis = axis_of("parallelism.tensor", {"4", "8", "8"});
  axis.paths.emplace_back("parallelism.data");
  for (std::size_t i = 0; i < 3; ++i) axis.values[i].texts.push_back(i == 1 ? "1" : "2");
  const Seen seen(sample_sweep({axis}, "step_time", [](const Places& p) {
    return outcome_of(0.02 + 0.002 * static_cast<double>(p[0]));
  }));
  CHECK(seen.says("4:2 20.0 ms, best 8:1 22.0 ms, +10.0 % 8:2 24.0 ms, +20.0 %"));
}

TEST_CASE("a map has a cell for each point, coloured by its distance from the best") {
  const auto axes = std::vector{axis_of("training.micro_batch", {"1", "2", "4"}),
                                axis_of("parallelism.tensor", {"1", "2"})};
  // Worse by 0.5, 1.5, 4, 8 and 60 %.
  constexpr std::array kSteps{0.0201, 0.0200, 0.0203, 0.0208, 0.0216, 0.0320};
  const Seen seen(sample_sweep(
      axes, "step_time", [&](const Places& p) { return outcome_of(kSteps.at(p[0] * 2 + p[1])); }));
  const auto cells = seen.all("g");
  REQUIRE(cells.size() == 6);
  const std::vector<std::string> colours{"#fde725", "#fde725", "#a0da39",
                                         "#4ac16d", "#1fa187", "#46327e"};
  const auto rect = [&](std::size_t i) { return cells[i].child("rect"); };
  for (std::size_t i = 0; i < 6; ++i) CHECK(rect(i).attribute("fill").value() == colours[i]);
  CHECK(title(cells[3]) == "micro_batch 2, tensor 2: 20.8 ms, +4.0 %");
  CHECK(cells[5].child_value("text") == std::string("32.00"));
  // The first axis goes to the right, the second upwards.
  CHECK(number(rect(2), "x") > number(rect(0), "x"));
  CHECK(number(rect(2), "y") == number(rect(0), "y"));
  CHECK(number(rect(1), "y") < number(rect(0), "y"));
  for (const auto& outline : seen.all("rect[@stroke-width='5']")) {
    CHECK(number(outline, "x") == number(rect(1), "x"));
    CHECK(number(outline, "y") == number(rect(1), "y"));
  }
  CHECK(seen.all("rect[@stroke-width='5']").size() == 1);
  CHECK(seen.says("within 1 % 1 to 2 % 2 to 5 % 5 to 10 % 10 to 20 % 20 to 50 % 50 to 100 %"));
  CHECK(seen.says("Best, outlined: 20.0 ms at micro_batch 1, tensor 2."));
  CHECK(seen.says("In the cells: step time, ms."));
}

TEST_CASE("a rate is worse by what it lacks, and shades that no point has do not stand") {
  const auto axes = std::vector{axis_of("a", {"1", "2"}), axis_of("b", {"1", "2"})};
  const Seen seen(sample_sweep(axes, "mfu", [](const Places& p) {
    return outcome_of(p[0] + p[1] == 0 ? 0.02 : 0.0225);  // 11 % less
  }));
  CHECK(seen.all("g")[3].child("rect").attribute("fill").value() == std::string("#277f8e"));
  CHECK(seen.says("10 to 20 %"));
  CHECK_FALSE(seen.says("20 to 50 %"));
}

TEST_CASE("cells that are not ok are hatched, with their state, and missing ones are named") {
  const auto axes = std::vector{axis_of("a", {"1", "2"}), axis_of("b", {"1", "2"})};
  SweepAnswer answer = sample_sweep(axes, "step_time", [](const Places& p) {
    if (p[0] == 0 && p[1] == 1) return refused();
    return outcome_of(0.02, p[0] == 1 && p[1] == 0 ? PointState::too_large : PointState::ok);
  });
  const Seen seen(answer);
  const auto cells = seen.all("g");
  REQUIRE(cells.size() == 4);
  CHECK(cells[1].child("rect").attribute("fill").value() == std::string("url(#sweep-none)"));
  CHECK(title(cells[1]) == "a 1, b 2: refused: 3 does not divide 32 \"heads\" & <more>");
  CHECK(cells[2].child("rect").attribute("fill").value() == std::string("url(#sweep-large)"));
  CHECK(seen.says("does not fit the memory 1 refused"));
  CHECK_FALSE(seen.says("not simulated"));
  answer.all.erase(answer.all.begin() + 1);
  const Seen sparse(answer);
  CHECK(sparse.all("g").size() == 3);
  CHECK(sparse.says("not simulated"));
}

TEST_CASE("a map's cells cover it without gaps") {
  std::vector<std::string> many;
  for (int i = 1; i <= 37; ++i) many.push_back(std::to_string(i));
  const Seen seen(sample_sweep({axis_of("a", many), axis_of("b", many)}, "step_time",
                               [](const Places&) { return outcome_of(0.02); }));
  const auto cells = seen.all("g");
  REQUIRE(cells.size() == 37 * 37);
  for (std::size_t i = 0; i + 37 < cells.size(); ++i) {
    const auto here = cells[i].child("rect"), right = cells[i + 37].child("rect");
    CHECK(number(here, "x") + number(here, "width") == number(right, "x"));
  }
}

TEST_CASE("words along a map that have no room beside each other are turned") {
  const auto axes =
      std::vector{axis_of("parallelism.pipeline.schedule",
                          {"gpipe", "one_f_one_b", "interleaved", "zero_bubble",
                           "interleaved_pytorch", "dualpipe", "zb_h1", "zb_h2", "zb_v", "another"}),
                  axis_of("parallelism.sharding", {"ddp", "zero1"})};
  const Seen seen(sample_sweep(axes, "step_time", [](const Places&) { return outcome_of(0.02); }));
  CHECK(seen.all("text[@transform]").size() == 10);
  // Words are read downwards.
  const auto cells = seen.all("g");
  CHECK(number(cells[1].child("rect"), "y") > number(cells[0].child("rect"), "y"));
}

TEST_CASE("of three axes each has a part through the best point, but for those of one value") {
  const auto axes = std::vector{axis_of("training.micro_batch", {"1", "2", "4"}),
                                axis_of("parallelism.sharding", {"ddp", "zero1"}),
                                axis_of("cluster.nodes", {"4"}),
                                axis_of("parallelism.tensor", {"1", "2", "4", "8"})};
  const Seen seen(sample_sweep(axes, "step_time", [](const Places& p) {
    return outcome_of(0.02 + 0.001 * double(p[0] + p[1] + p[3]));
  }));
  CHECK(seen.all("rect", "frame").size() == 2);
  CHECK(seen.all("circle", "dot").size() == 3 + 4);
  CHECK(seen.all("rect", "dot").size() == 1);
  CHECK(seen.all("rect", "best").size() == 1);
  CHECK(seen.says("Best: 20.0 ms at micro_batch 1, sharding ddp, nodes 4, tensor 1."));
  CHECK_FALSE(seen.says("cluster.nodes"));
  // All panels share an axis of results, so that equal values have equal heights.
  const auto rings = seen.all("circle", "ring");
  REQUIRE(rings.size() == 2);
  const auto frames = seen.all("rect", "frame");
  CHECK(number(rings[0], "cy") - number(frames[0], "y") ==
        doctest::Approx(number(rings[1], "cy") - number(frames[1], "y")));
}

TEST_CASE("without an ok point a picture says so, and why") {
  const Seen seen(
      sample_sweep({bucket_axis()}, "step_time", [](const Places&) { return refused(); }));
  CHECK(seen.says("No point is ok."));
  CHECK(seen.says("5 refused, as bucket_size 5 MiB: 3 does not divide 32 \"heads\" & <more>"));
  SweepAnswer answer;
  answer.name = "empty";
  answer.axes = {bucket_axis()};
  answer.objective = &objective_of("step_time");
  answer.grid = answer.wanted = 5;
  CHECK(Seen(answer).says("No point is done yet."));
  answer.done = answer.ok = 5;
  answer.objective = &objective_of("cost");
  CHECK(Seen(answer).says("No point has a cost."));
}

TEST_CASE("every objective has its unit") {
  const auto words_of = [](const char* objective) {
    return Seen(sample_sweep({bucket_axis()}, objective, bucket_outcome)).words();
  };
  CHECK(words_of("step_time").find("24 ms") != std::string::npos);
  CHECK(words_of("mfu").find("50 %") != std::string::npos);
  CHECK(words_of("tokens_per_s").find("2.8 M") != std::string::npos);
  CHECK(words_of("tokens_per_s_per_gpu").find("360 k") != std::string::npos);
  CHECK(words_of("memory").find("10.2 GiB") != std::string::npos);
  CHECK(words_of("cost").find("0.06 $") != std::string::npos);
  CHECK(words_of("cost").find("Cost of a million tokens") != std::string::npos);
}

TEST_CASE("an outcome without the objective is a cross that says so") {
  const Seen seen(sample_sweep({bucket_axis()}, "cost", [](const Places& p) {
    Outcome outcome = bucket_outcome(p);
    if (p[0] == 1) {
      outcome.state = PointState::too_large;
      outcome.numbers->dollars = 0;
    }
    return outcome;
  }));
  REQUIRE(seen.all("path", "cross").size() == 1);
  CHECK(seen.says("Crosses: 1 too large."));
}

TEST_CASE("a picture has the same bytes every time, and fits its page") {
  const auto answer = sample_sweep({bucket_axis()}, "step_time", bucket_outcome);
  CHECK(sweep_plot(answer) == sweep_plot(answer));
  const Seen seen(answer);
  const auto page = seen.document.child("svg");
  for (const auto& node : seen.all("text")) {
    CHECK(number(node, "y") < number(page, "height"));
    CHECK(number(node, "y") > 0);
  }
}
