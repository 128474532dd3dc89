// Sizes of tensors that the reader of Kineto keeps, and which it leaves out.
#include <doctest/doctest.h>

#include "tests/unit/recording/sample_trace.hpp"

namespace stepsim {
namespace {

std::string operation(const std::string& name, const std::string& arguments, int ts) {
  return fmt::format(
      R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{},"dur":1,"args":{{{}}}}})",
      name, ts, arguments);
}

TEST_CASE("sizes of products are read, each once, with the moments of their calls") {
  const std::string args =
      R"("Input Dims": [[8, 256], [], [1000]], "Input type": ["c10::Half", "Scalar"])";
  SampleTrace trace;
  trace.add(operation("aten::addmm", args, 30)).add(operation("aten::addmm", args, 10));
  const Recording recording = recording_of(
      trace.add(operation("aten::add", args, 40)).document(R"("baseTimeNanoseconds": 5000,)"));
  REQUIRE(recording.shapes.size() == 1);
  CHECK(recording.names[recording.shapes[0].name] == "aten::addmm");
  CHECK(recording.shapes[0].sizes == std::vector<std::vector<std::int64_t>>{{8, 256}, {}, {1000}});
  CHECK(recording.shapes[0].type == "c10::Half");
  const auto& calls = recording.threads.at(0).shaped_calls;
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].time.start == 15'000);
  CHECK(calls[1].time.start == 35'000);
}

TEST_CASE("sizes as old recorders have them, lists of tensors and damaged ones") {
  SampleTrace trace;
  trace.add(operation("aten::mm", R"("Input dims": [[2, 3], [3, 4]])", 1))
      .add(operation("aten::linear", R"("Input Dims": [[[1, 2], [3, 4]], [5]])", 2))
      .add(operation("aten::bmm", R"("Input Dims": "none", "Input type": 7)", 3))
      .add(operation("aten::convolution", R"("Input Dims": [[99999999999999999999, 1]])", 4));
  const Recording recording = recording_of(trace.document());
  REQUIRE(recording.shapes.size() == 4);
  using Sizes = std::vector<std::vector<std::int64_t>>;
  CHECK(recording.shapes[0].sizes == Sizes{{2, 3}, {3, 4}});
  CHECK(recording.shapes[0].type.empty());
  CHECK(recording.shapes[1].sizes == Sizes{{}, {5}});
  CHECK(recording.shapes[2].sizes.empty());
  CHECK(recording.shapes[3].sizes == Sizes{{}});
}

}  // namespace
}  // namespace stepsim
