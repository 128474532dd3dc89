// Entries of /proc/cpuinfo, as kernels of several architectures write them.
#include "sim/core/system/cpuinfo.hpp"

#include <doctest/doctest.h>

using namespace stepsim;

TEST_CASE("the model of a CPU is that of its first core") {
  CHECK(cpu_model("processor\t: 0\nmodel name\t: AMD EPYC 9654 96-Core\r\nflags\t\t: a b\n"
                  "model name\t: another\n") == "AMD EPYC 9654 96-Core");
  CHECK(cpu_model("processor\t: 0\nCPU implementer\t: 0x41\n").empty());
  CHECK(cpu_model("").empty());
}

TEST_CASE("a value may have colons, and may be empty") {
  const auto entries = cpuinfo_entries("bugs\t: a: b\n\npower management:\nno entry\n");
  REQUIRE(entries.size() == 2);
  CHECK(entries[0] == std::pair<std::string, std::string>{"bugs", "a: b"});
  CHECK(entries[1] == std::pair<std::string, std::string>{"power management", ""});
}
