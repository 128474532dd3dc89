// Numbers, units and words: what is read, what is refused, and that what is written reads back
// exactly.
#include <random>

#include <doctest/doctest.h>

#include "sim/scenario/read/scalar.hpp"

using namespace stepsim;

namespace {

template <class T>
T read(const std::string& text) {
  T value{};
  read_scalar(text, value);
  return value;
}

template <class T>
Mistake mistake_in(const std::string& text) {
  try {
    read<T>(text);
  } catch (const Mistake& mistake) {
    return mistake;
  }
  return {"none", ""};
}

/// Values of all sizes, and such that come from a product with a unit.
std::vector<double> values() {
  std::vector<double> list{0, 1, 5 * 1e-6, 2.5e10, 25.0 * 0x1p20, 80e9, 1.0 / 3, 1e-300, 1e300};
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const double mantissa = static_cast<double>(random() >> 11) * 0x1p-53;
    list.push_back(std::ldexp(mantissa, static_cast<int>(random() % 120) - 60));
    list.push_back(static_cast<double>(random() % 1000) * 1e-6);
    list.push_back(static_cast<double>(random() % 1000) * 0x1p20);
  }
  return list;
}

}  // namespace

TEST_CASE("integers are decimal, whatever YAML thinks of them") {
  CHECK(read<int>("96") == 96);
  CHECK(read<int>("010") == 10);
  CHECK(read<int>("25_000") == 25000);
  CHECK(read<std::int64_t>("1e9") == 1'000'000'000);
  CHECK(read<std::int64_t>("1.5e3") == 1500);
  CHECK(read<int>("+8") == 8);
  CHECK(read<int>("-8") == -8);
  CHECK(read<std::int64_t>("9223372036854775807") == 9223372036854775807);
  CHECK(read<std::uint64_t>("18446744073709551615") == 18446744073709551615u);
}

TEST_CASE("what is no integer is refused by name") {
  for (const char* text :
       {"", "four", "0x10", "2.5", "4 k", "4k", "1e", "_1", "1_", "1__0", "--1", "1 2", "%"}) {
    CAPTURE(text);
    CHECK(mistake_in<int>(text).message == quoted(text) + " is not an integer");
  }
  CHECK(mistake_in<int>("3000000000").message == "'3000000000' is out of range");
  CHECK(mistake_in<std::int64_t>("1e19").message == "'1e19' is out of range");
  CHECK(mistake_in<std::int64_t>("9223372036854775808").message ==
        "'9223372036854775808' is out of range");
  CHECK(mistake_in<int>(".inf").message == "'.inf' is not a finite number");
}

TEST_CASE("numbers may be percentages") {
  CHECK(read<double>("38 %") == doctest::Approx(0.38));
  CHECK(read<double>("94%") == doctest::Approx(0.94));
  CHECK(read<double>("0.5") == 0.5);
  CHECK(read<double>(".5") == 0.5);
  CHECK(read<double>("1e-3") == 1e-3);
  CHECK(mistake_in<double>("NaN").message == "'NaN' is not a finite number");
  CHECK(mistake_in<double>("1e999").message == "'1e999' is too large or too small for a number");
}

TEST_CASE("switches are true and false, and other words are translated") {
  CHECK(read<bool>("true"));
  CHECK_FALSE(read<bool>("false"));
  CHECK(mistake_in<bool>("on").proposal == "write \"true\"");
  CHECK(mistake_in<bool>("No").proposal == "write \"false\"");
  CHECK(mistake_in<bool>("perhaps").proposal.empty());
}

TEST_CASE("each unit has its factor") {
  CHECK(read<Seconds>("2 us") == 2_us);
  CHECK(read<Seconds>("2us") == 2_us);
  CHECK(read<Seconds>("1.5 h").seconds() == 5400);
  CHECK(read<Seconds>("2 min").seconds() == 120);
  CHECK(read<Bytes>("25 MiB") == 25_MiB);
  CHECK(read<Bytes>("80 GB") == 80_GB);
  CHECK(read<Bytes>("1 KB").bytes() == 1000);
  CHECK(read<Bytes>("1 TiB").bytes() == 0x1p40);
  CHECK(read<BytesPerSecond>("900 GB/s") == 900_GBps);
  CHECK(read<BytesPerSecond>("400 Gbit/s") == 50_GBps);
  CHECK(read<BytesPerSecond>("1.6 Tbit/s") == 200_GBps);
  CHECK(read<BytesPerSecond>("8 bit/s").bytes_per_second() == 1);
  CHECK(read<BytesPerSecond>("1 GiB/s").bytes_per_second() == 0x1p30);
  CHECK(read<FlopsPerSecond>("312 TFLOP/s") == 312_TFLOPps);
  CHECK(read<Flops>("6 GFLOP").flops() == 6e9);
}

TEST_CASE("a bare number gets a proposal with the usual unit") {
  CHECK(mistake_in<BytesPerSecond>("900").message == "'900' has no unit");
  CHECK(mistake_in<BytesPerSecond>("900").proposal == "write \"900 Gbit/s\" or \"900 GB/s\"");
  CHECK(mistake_in<Seconds>("2").proposal == "write \"2 us\"");
  CHECK(mistake_in<Bytes>("26214400").proposal == "write \"26214400 B\"");
  CHECK(mistake_in<FlopsPerSecond>("312").proposal == "write \"312 TFLOP/s\"");
}

TEST_CASE("units of other tools are translated") {
  CHECK(mistake_in<BytesPerSecond>("400 Gbps").proposal == "write \"400 Gbit/s\"");
  CHECK(mistake_in<BytesPerSecond>("900 GB").proposal == "write \"900 GB/s\"");
  CHECK(mistake_in<BytesPerSecond>("900 gb/s").proposal == "write \"900 GB/s\"");
  CHECK(mistake_in<FlopsPerSecond>("312 TFLOPS").proposal == "write \"312 TFLOP/s\"");
  CHECK(mistake_in<Bytes>("80 G").proposal == "write \"80 GB\"");
  CHECK(mistake_in<Seconds>("3 µs").proposal == "write \"3 us\"");
}

TEST_CASE("decoding is a time per sample or a rate of samples") {
  CHECK(read<SampleTime>("5 ms").time == 5_ms);
  CHECK(read<SampleTime>("200 samples/s").time.seconds() == doctest::Approx(0.005));
  CHECK(mistake_in<SampleTime>("0 samples/s").message == "'0 samples/s' must be greater than 0");
  CHECK(mistake_in<SampleTime>("5").proposal == "write \"5 ms\" or \"5 samples/s\"");
}

TEST_CASE("every quantity that is written reads back to the last bit") {
  for (const double value : values()) {
    CAPTURE(value);
    CHECK(read<Seconds>(write_scalar(Seconds{value})) == Seconds{value});
    CHECK(read<Bytes>(write_scalar(Bytes{value})) == Bytes{value});
    CHECK(read<BytesPerSecond>(write_scalar(BytesPerSecond{value})) == BytesPerSecond{value});
    CHECK(read<FlopsPerSecond>(write_scalar(FlopsPerSecond{value})) == FlopsPerSecond{value});
    CHECK(read<double>(write_scalar(value)) == value);
  }
}

TEST_CASE("quantities are written in the unit that is shortest") {
  CHECK(write_scalar(25_MiB) == "25 MiB");
  CHECK(write_scalar(80_GB) == "80 GB");
  CHECK(write_scalar(5_us) == "5 us");
  CHECK(write_scalar(25_GBps) == "25 GB/s");
  CHECK(write_scalar(Bytes{}) == "0 B");
  CHECK(write_scalar(312_TFLOPps) == "312 TFLOP/s");
}

TEST_CASE("an extent is two sizes, the lesser first") {
  using Sizes = Extent<std::int64_t>;
  CHECK(read<Sizes>("128 to 32768") == Sizes{128, 32768});
  CHECK(read<Extent<Bytes>>("4 KiB to 1 GiB") == Extent<Bytes>{4_KiB, 1_GiB});
  CHECK(write_scalar(Extent<Bytes>{4_KiB, 1_GiB}) == "4 KiB to 1 GiB");
  CHECK(mistake_in<Sizes>("128").message == "'128' is not \"A to B\", each an integer");
  CHECK(mistake_in<Sizes>("512 to 128").message == "'512 to 128' ends before it begins");
  CHECK(mistake_in<Extent<Bytes>>("4 to 8 KiB").message.find("unit") != std::string::npos);
}

TEST_CASE("choices are words, and near ones are proposed") {
  CHECK(read<Precision>("bf16") == Precision::bf16);
  CHECK(write_scalar(sharding_named("zero3")) == "zero3");
  CHECK(mistake_in<Precision>("BF16").proposal == "did you mean 'bf16'?");
  CHECK(mistake_in<ContextKind>("rings").proposal == "did you mean 'ring'?");
  CHECK(mistake_in<RecomputeMethod>("lion").message == "'lion' is not uniform or block");
}

TEST_CASE("the nearest word is found, and no far one") {
  const std::vector<std::string> words{"bandwidth", "latency", "nics_per_node"};
  CHECK(nearest("bandwith", words) == "bandwidth");
  CHECK(nearest("nics-per-nodes", words) == "nics_per_node");
  CHECK(nearest("latnecy", words) == "latency");
  CHECK_FALSE(nearest("colour", words).has_value());
  CHECK_FALSE(nearest(std::string(100'000, 'x'), words).has_value());
  CHECK(edit_distance("1fb1", "1f1b") == 1);
}

TEST_CASE("a price says of what it is") {
  GpuPrice price;
  read_scalar("2.50 $/gpu/h", price);
  CHECK(price.dollars_per_hour == 2.5);
  CHECK(write_scalar(price) == "\"2.5 $/gpu/h\"");
  CHECK_THROWS_AS(read_scalar("2.50", price), Mistake);
  CHECK_THROWS_AS(read_scalar("2.50 $/h", price), Mistake);
  CHECK_THROWS_AS(read_scalar("cheap", price), Mistake);
}
