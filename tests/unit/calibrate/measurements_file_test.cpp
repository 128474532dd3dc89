// The file of measurements: written and read again, and refused with a sentence where it is wrong.
#include <doctest/doctest.h>

#include "sim/calibrate/measurement/measurements.hpp"
#include "sim/core/error.hpp"

using namespace stepsim;

namespace {

Measurements sample() {
  Measurements all;
  all.device.name = "NVIDIA H100 80GB HBM3";
  all.device.compute_major = 9;
  all.device.sms = 132;
  all.device.l2_bytes = 52428800;
  all.device.max_sm_clock_hz = 1.98e9;
  all.device.gpus = 8;
  all.software = {{"cuda_runtime", "13.0"}, {"driver", "580.65.06"}};
  all.started = "2026-01-31T12:00:00Z";
  PointRecord gemm{GemmPoint{Precision::bf16, Transpose::NT, 4096, 1024, 512, 1, true}, {}, ""};
  gemm.measured.timing = {12.5e-6, 12.25e-6, 13e-6, 50};
  gemm.measured.sm_clock_hz = 1.755e9;
  PointRecord overlap{
      OverlapPoint{Activity::gemm, Activity::h2d, Precision::bf16, 8, 8, 8, 64, 1}, {}, ""};
  overlap.measured.timing = {2e-3, 1.9e-3, 2.1e-3, 10};
  overlap.measured.alone_seconds = 1.5e-3;
  PointRecord queue{QueuePoint{}, {}, ""};
  queue.measured.launches = 1022;
  PointRecord skipped{CopyPoint{Direction::both, HostMemory::pinned, 4096}, {}, "a \"reason\""};
  all.records = {gemm, overlap, queue, skipped};
  return all;
}

const char* const kHead =
    R"({"schema": "stepsim.measurements/1",
 "device": {"name":"x","compute_capability":"9.0","sms":1,"memory_bytes":1,"l2_bytes":1,"memory_bus_bits":1,"max_sm_clock_hz":1.0,"max_memory_clock_hz":1.0,"power_limit_w":1.0,"gpus":1},
 "software": {},
 "started": "2026-01-31T12:00:00Z",
 "points": [
)";

/// What is said first about a file with these records, the first of which stands in line 6.
std::string refusal(const std::string& records) {
  try {
    (void)parse_measurements(kHead + records + "\n]}\n", "my.json");
  } catch (const UserError& error) {
    Diagnostic first = error.diagnostics().front();
    first.source_line.clear();
    return to_string(first);
  }
  return "";
}

const std::string kCopy =
    R"({"kind":"copy","direction":"h2d","host":"pinned","bytes":4096,"seconds":1e-6,"p10":1e-6,"p90":1e-6,"repeats":5})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("what is written is read again, digit by digit") {
  const std::string text = to_json(sample());
  const Measurements again = parse_measurements(text, "my.json");
  CHECK(to_json(again) == text);
  CHECK(again.device.sms == 132);
  CHECK(again.software.at("driver") == "580.65.06");
  REQUIRE(again.records.size() == 4);
  CHECK(identity(again.records[0].point) == identity(sample().records[0].point));
  CHECK(again.records[0].measured.timing.seconds == 12.5e-6);
  CHECK(*again.records[1].measured.alone_seconds == 1.5e-3);
  CHECK(*again.records[2].measured.launches == 1022);
  CHECK(again.records[3].skipped == "a \"reason\"");
}

TEST_CASE("a record is one line") {
  const std::string text = to_json(sample());
  CHECK(text.find("\n  {\"kind\":\"gemm\",\"dtype\":\"bf16\",\"transpose\":\"NT\",\"m\":4096,"
                  "\"n\":1024,\"k\":512,\"batch\":1,\"accumulate\":true,\"sustained\":false,"
                  "\"seconds\":1.25e-05,\"p10\":1.225e-05,\"p90\":1.3e-05,\"repeats\":50,"
                  "\"sm_clock_hz\":1755000000.0},\n") != std::string::npos);
}

TEST_CASE("a file without points is one to go on with") {
  CHECK(parse_measurements(std::string(kHead).append("]}"), "my.json").records.empty());
}

TEST_CASE("a number that is not finite is not written") {
  Measurements all = sample();
  all.records[0].measured.timing.seconds = 0.0 / 0.0;
  CHECK_THROWS_AS((void)to_json(all), InternalError);
}

TEST_CASE("a good record is not refused") { CHECK(refusal(kCopy) == ""); }

TEST_CASE("a file that was cut off is named with its last line") {
  try {
    (void)parse_measurements(kHead + kCopy.substr(0, 40), "my.json");
    FAIL("accepted");
  } catch (const UserError& error) {
    CHECK(std::string(error.what())
              .find("my.json:6:41: the file ends before its JSON does: it was "
                    "cut off, copy it again\n") == 0);
  }
}

TEST_CASE("wrong records are named by line, with what is wrong") {
  CHECK(refusal(with(kCopy, "copy", "cpoy")) ==
        "my.json:6:9: unknown kind 'cpoy', did you mean 'copy'?");
  CHECK(refusal(with(kCopy, "\"h2d\"", "\"h2h\"")).find("my.json:6:28: unknown direction 'h2h'") ==
        0);
  CHECK(refusal(with(kCopy, "4096", "-1")) ==
        "my.json:6:58: 'bytes' is '-1', not a whole number of at least 1");
  CHECK(refusal(with(kCopy, "4096", "4096.5")) ==
        "my.json:6:58: 'bytes' is '4096.5', not a whole number of at least 1");
  CHECK(refusal(with(kCopy, "\"seconds\":1e-6", "\"seconds\":-1e-6")) ==
        "my.json:6:73: 'seconds' is '-1e-6', which is not positive");
  CHECK(refusal(with(kCopy, "\"seconds\":1e-6", "\"seconds\":null")) ==
        "my.json:6:73: 'seconds' is 'null', not a number");
  CHECK(refusal(with(kCopy, "\"seconds\":1e-6", "\"seconds\":\"1 us\"")) ==
        "my.json:6:73: 'seconds' is '1 us', not a number, write the number alone, in base units");
  CHECK(refusal(with(kCopy, ",\"repeats\":5", "")) == "my.json:6:1: 'repeats' is missing");
  CHECK(refusal(with(kCopy, "\"p10\"", "\"p01\"")) == "my.json:6:1: 'p10' is missing");
  CHECK(refusal(with(kCopy, "}", ",\"speed\":5}")).find("my.json:6:112: unknown key 'speed'") == 0);
}

TEST_CASE("the second of two equal points is refused by its line") {
  CHECK(refusal(kCopy + ",\n" + kCopy) ==
        "my.json:7:1: 'copy direction=h2d host=pinned bytes=4096' is there twice, first in line 6");
}

TEST_CASE("another schema is not guessed at") {
  const std::string text =
      with(std::string(kHead).append("]}"), "measurements/1", "measurements/2");
  const auto said = [](const std::string& wrong) -> std::string {
    try {
      (void)parse_measurements(wrong, "my.json");
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(said(text).find("my.json:1:12: the schema is 'stepsim.measurements/2', this program reads "
                        "'stepsim.measurements/1'\n") == 0);
  CHECK(said("[]").find("my.json:1:1: a file of measurements is a map with a 'schema'\n") == 0);
}

TEST_CASE("what hardly any benchmark has stands in a file only where it says something") {
  const std::string gemm =
      R"({"kind":"gemm","dtype":"fp8","transpose":"TN","m":128,"n":512,"k":512,"batch":1,"accumulate":false,"sustained":false,"quantised_bytes":5,"seconds":1e-5,"p10":1e-5,"p90":1e-5,"repeats":5})";
  const std::string attention =
      R"({"kind":"attention","kernel":"flash3","dtype":"bf16","pass":"forward","causal":true,"batch":1,"heads":8,"kv_heads":8,"sequence":512,"head_dim":128,"cache_write":true,"seconds":1e-5,"p10":1e-5,"p90":1e-5,"repeats":5})";
  const std::string both = kHead + gemm + ",\n" + attention + "\n]}\n";
  const Measurements stated = parse_measurements(both, "my.json");
  CHECK(std::get<GemmPoint>(stated.records[0].point).quantised_bytes == 5);
  CHECK(std::get<AttentionPoint>(stated.records[1].point).cache_write);
  CHECK(to_json(stated).find("\"quantised_bytes\":5,") != std::string::npos);
  CHECK(to_json(stated).find("\"cache_write\":true,") != std::string::npos);
  const std::string neither =
      with(with(both, "\"quantised_bytes\":5,", ""), "\"cache_write\":true,", "");
  const Measurements silent = parse_measurements(neither, "my.json");
  CHECK(std::get<GemmPoint>(silent.records[0].point).quantised_bytes == 0);
  CHECK_FALSE(std::get<AttentionPoint>(silent.records[1].point).cache_write);
  CHECK(identity(stated.records[0].point) != identity(silent.records[0].point));
  CHECK(to_json(silent).find("quantised") == std::string::npos);
  CHECK(
      refusal(with(attention, "cache_write", "cache_wirte")).find("did you mean 'cache_write'?") !=
      std::string::npos);
  CHECK(refusal(with(gemm, "quantised_bytes\":5", "quantised_bytes\":17")) ==
        "my.json:6:136: 'quantised_bytes' is '17', which is above 16");
  CHECK(refusal(with(gemm, "fp8", "bf16")) ==
        "my.json:6:137: 'quantised_bytes' is of fp8 and nvfp4, not of bf16");
}
