// The table of kernels: each pattern knows the name that it is meant for, and mistakes have places.
#include <doctest/doctest.h>

#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

KernelKinds parsed(const std::string& text) {
  return parse_kernel_kinds(std::make_shared<Source>(Source{"kernels.yaml", "", text}));
}

std::string mistake_in(const std::string& text) {
  try {
    parsed(text);
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("each pattern matches its example, which the whole table takes for the same kind") {
  CHECK(sample_kinds().patterns().size() > 100);
  for (const KernelPattern& pattern : sample_kinds().patterns()) {
    CAPTURE(pattern.text);
    CAPTURE(pattern.example);
    CHECK(parsed("kernels: [{kind: gemm, pattern: '" + pattern.text + "', example: x}]")
              .kind_of(pattern.example) == KernelKind::gemm);
    CHECK(sample_kinds().kind_of(pattern.example) == pattern.kind);
  }
}

TEST_CASE("names of transfers are communication, whoever wrote them") {
  for (const char* name :
       {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
        "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "ncclSymkDevKernel_AllGather_LL",
        "void deep_ep::internode_ll::combine<7168, 9>(void*)",
        "void vllm::cross_device_reduce_2stage<half, 4>(vllm::RankData*)"})
    CHECK(sample_kinds().kind_of(name) == KernelKind::communication);
  // It counts tokens on this GPU.
  CHECK(sample_kinds().kind_of("void deep_ep::layout::get_dispatch_layout<256>(long const*)") ==
        KernelKind::sort);
}

TEST_CASE("parts follow each other, in any case of letters") {
  const KernelKinds kinds = parsed("kernels: [{kind: norm, pattern: a*B*c, example: abc}]");
  CHECK(kinds.kind_of("xxA--b--C") == KernelKind::norm);
  CHECK(kinds.kind_of("c b a") == KernelKind::unknown);
  CHECK(kinds.kind_of(std::string(100'000, 'a')) == KernelKind::unknown);
}

TEST_CASE("mistakes in a table") {
  CHECK(mistake_in("kernels: [{kind: gem, pattern: a, example: a}]").find("unknown kind 'gem'") !=
        std::string::npos);
  CHECK(mistake_in("kernels: [{kind: gem, pattern: a, example: a}]").find("gemm") !=
        std::string::npos);
  CHECK(mistake_in("kernels: [{kind: gemm, example: a}]").find("a text for pattern") !=
        std::string::npos);
  CHECK(mistake_in("kernels: [gemm]").find("expected a map") != std::string::npos);
  CHECK(mistake_in("rows: []").find("a list `kernels`") != std::string::npos);
}
