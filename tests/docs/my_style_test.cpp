// The style that docs/how-to-add.md adds is found by its name, and differs where it says.
#include <doctest/doctest.h>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

/// Kernels of a layer of Llama 3 8B, forward, in ops that have this in their name.
int kernels_with(const std::string& style, const std::string& name) {
  const OpGraph graph =
      build(load({.path = std::string(source_folder()) + "/scenarios/llama3-8b-loader-8xh100.yaml",
                  .overrides = {"training.fusion=" + style, "expect=null"}}));
  int kernels = 0;
  for (const Op& op : graph.blocks.at(1).dag.ops) {
    for (const Item& item : op.forward) {
      const auto* launch = std::get_if<Launch>(&item);
      if (launch != nullptr && launch->name.find(name) != std::string::npos) ++kernels;
    }
  }
  return kernels;
}

}  // namespace

TEST_CASE("a scenario can name Liger's style, whose chains are one kernel each") {
  CHECK(kernels_with("liger", "rotary embedding") == 1);
  CHECK(kernels_with("none", "rotary embedding") == 10);
  CHECK(kernels_with("liger", "swiglu") == 1);
  CHECK(kernels_with("none", "swiglu") == 2);
  CHECK(kernels_with("liger", "attention norm") == 1);
  CHECK(kernels_with("none", "attention norm") == 8);
}
