// GPUs by the names that people and drivers have for them.
#include "sim/scenario/read/absent_gpus.hpp"

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

const std::vector<std::string> kProfiles{"a100-40", "a100-80",    "b200", "gb200", "h100",
                                         "h200",    "h100-hbm2e", "l40s", "v100"};

}  // namespace

TEST_CASE("another spelling of a profile's name leads to it") {
  for (const char* name : {"H100", "nvidia-h100", "NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"})
    CHECK(nearest_gpu(name, kProfiles) == "h100");
  CHECK(nearest_gpu("A100-SXM4-80GB", kProfiles) == "a100-80");
  CHECK(nearest_gpu("A100 40GB", kProfiles) == "a100-40");
  CHECK(nearest_gpu("GB200", kProfiles) == "gb200");
  CHECK(nearest_gpu("Tesla V100", kProfiles) == "v100");
}

TEST_CASE("a GPU without a profile leads to the nearest, where that is there") {
  CHECK(nearest_gpu("RTX 4090", kProfiles) == "l40s");
  CHECK(nearest_gpu("h20", kProfiles) == "h100");
  CHECK(nearest_gpu("AMD Instinct MI300X", kProfiles) == "h200");
  CHECK(nearest_gpu("mi300x", {"v100"}).empty());
  CHECK(nearest_gpu("abacus", kProfiles).empty());
  CHECK(nearest_gpu("", kProfiles).empty());
}
