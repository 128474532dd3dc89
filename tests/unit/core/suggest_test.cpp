// "Did you mean": words that are misspelt, unfinished, or longer than what is known.
#include "sim/core/suggest.hpp"

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

const std::vector<std::string> kFrameworks{"pytorch-ddp", "pytorch-fsdp1", "pytorch-fsdp2",
                                           "megatron", "deepspeed"};

}  // namespace

TEST_CASE("a word leads to the one that it is a misspelling of") {
  CHECK(nearest("megatorn", kFrameworks) == "megatron");
  CHECK(nearest("Pytorch_DDP", kFrameworks) == "pytorch-ddp");
  CHECK(nearest("jax", kFrameworks) == std::nullopt);
}

TEST_CASE("a word leads to one that it begins with, or that ends with it") {
  CHECK(nearest("deepspeed-zero3", kFrameworks) == "deepspeed");
  CHECK(nearest("megatron-lm", kFrameworks) == "megatron");
  CHECK(nearest("fsdp2", kFrameworks) == "pytorch-fsdp2");
  CHECK(nearest("ddp", kFrameworks) == "pytorch-ddp");
  // Parts that no hyphen sets apart say nothing.
  CHECK(nearest("dp", {"pytorch-ddp"}) == std::nullopt);
}
