// Kineto's files of all generations, and files that are none.
#include <doctest/doctest.h>

#include "sim/recording/files/looks_like_recording.hpp"
#include "sim/recording/kineto/kineto_event.hpp"
#include "tests/unit/recording/sample_trace.hpp"

using namespace stepsim;

namespace {

constexpr KinetoWords kOfNow{};
constexpr KinetoWords kOf2020{"Operator", "Runtime", "Operator",
                              "Kernel",   "Memcpy",  "\"stream 7\""};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("microseconds become nanoseconds exactly") {
  CHECK(nanoseconds_of("1740461679470630") == 1'740'461'679'470'630'000);
  CHECK(nanoseconds_of("1712183498.1234567") == 1'712'183'498'123);
  CHECK(nanoseconds_of("3743411222487.063") == 3'743'411'222'487'063);
  CHECK(nanoseconds_of("0.5") == 500);
  CHECK(nanoseconds_of("-2.25") == -2250);
  CHECK(nanoseconds_of("1.5e3") == 1'500'000);
  for (const char* text : {"", "x", "-", "1.2.3", "nan", "inf", "1e300", "99999999999999999999",
                           "9223372036854775807", "--1", "true", "{"})
    CHECK_FALSE(nanoseconds_of(text).has_value());
}

TEST_CASE("the names of all generations say the same") {
  const Observation now = observed(sample_step(kOfNow).document());
  const Observation then = observed(sample_step(kOf2020).document());
  CHECK(now.gpu.busy == then.gpu.busy);
  CHECK(now.idle.late_host.loader == then.idle.late_host.loader);
  CHECK(now.idle.late_host.operation == then.idle.late_host.operation);
  CHECK(now.idle.causes.launch_latency == then.idle.causes.launch_latency);
  CHECK(then.steps.size() == 1);
  const Recording recording = recording_of(sample_step(kOf2020).list());
  CHECK(recording.activities.front().stream == 7);
  CHECK(recording.threads.size() == 1);
}

TEST_CASE("events may be the whole document, and metadata may follow them") {
  const std::string distributed =
      R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8})";
  const std::string devices = R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100"}])";
  const Recording list = recording_of(sample_step().list());
  const Recording before = recording_of(sample_step().document(distributed + "," + devices + ","));
  const Recording behind =
      recording_of(sample_step().document("", "," + distributed + "," + devices));
  CHECK(list.activities.size() == 2);
  for (const Recording* recording : {&before, &behind}) {
    CHECK(recording->rank == 3);
    CHECK(recording->world_size == 8);
    CHECK(recording->backend == "nccl");
    CHECK(recording->device == "NVIDIA H100");
    CHECK(recording->activities.size() == 2);
  }
}

TEST_CASE("a rank that the file does not say is that of its name, which is said") {
  const Recording recording = recording_of(sample_step().document(), "worker12_step_4.json");
  CHECK(recording.rank == 12);
  CHECK(recording.notes.is_rank_from_name);
  CHECK(recording_of(sample_step().document(), "rank-7.trace.json").rank == 7);
  CHECK_FALSE(recording_of(sample_step().document(), "trace.json").rank.has_value());
}

TEST_CASE("times count from the base where there is one, wherever it stands") {
  const std::string base = R"("baseTimeNanoseconds": 1735632360000000000)";
  const Recording behind = recording_of(sample_step().document("", "," + base));
  CHECK(behind.activities.front().time.start == 1'735'632'360'000'000'000 + 1'030'000);
  CHECK(recording_of(sample_step().document(base + ",")).activities.front().time.start ==
        behind.activities.front().time.start);
}

TEST_CASE("times in nanoseconds are known by their size") {
  // 2 hours behind the base in microseconds, and 40 days behind it in nanoseconds.
  const std::string base =
      R"("displayTimeUnit": "ns", "baseTimeNanoseconds": 1735632360000000000,)";
  const Recording micro =
      recording_of(SampleTrace().kernel("sgemm", "7200000000.5", "10.25", 1).document(base));
  CHECK(micro.activities.front().time.length() == 10'250);
  const Recording nano =
      recording_of(SampleTrace().kernel("sgemm", "3456000000000000", "10250", 1).document(base));
  CHECK(nano.activities.front().time.length() == 10'250);
  CHECK(nano.activities.front().time.start == 1'735'632'360'000'000'000 + 3'456'000'000'000'000);
}

TEST_CASE("compressed files are known by their content, packed once or twice, or put together") {
  const std::string text = sample_step().document();
  CHECK(recording_of(packed(text)).activities.size() == 2);
  CHECK(recording_of(packed(packed(text))).activities.size() == 2);
  const std::size_t half = text.size() / 2;
  CHECK(recording_of(packed(text.substr(0, half)) + packed(text.substr(half))).activities.size() ==
        2);
}

TEST_CASE("integers beyond 64 bits, odd bytes and odd types do no harm") {
  const std::string text =
      sample_step()
          .add(R"({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":0,"tid":1,"ts":200,)"
               R"("dur":100,"args":{"Comms Id": 10159970886766084423}})")
          .add(
              "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"caf\xe9 \x01\",\"pid\":1,\"tid\":1,"
              "\"ts\":5,\"dur\":1}")
          .add(R"({"ph":"X","cat":7,"name":null,"pid":[],"tid":{},"ts":"x","dur":false,"args":3})")
          .add(R"({"ph":"X","cat":"kernel","name":"a \" \\","pid":0,"tid":7,"ts":1080,"dur":5,)"
               R"("args":{"correlation":18446744073709551615}})")
          .document();
  const Recording recording = recording_of(text);
  CHECK(recording.activities.size() == 3);
  CHECK(recording.notes.damaged == 0);
  CHECK(recording.name_of(recording.activities.back()) == "a \" \\");
}

TEST_CASE("activities without a time are counted and left out") {
  const Recording recording = recording_of(sample_step()
                                               .kernel("sgemm", "0", "0", 1)
                                               .kernel("sgemm", "1090", "-5", 1)
                                               .kernel("sgemm", "1090", "18446744073709551", 1)
                                               .document());
  CHECK(recording.activities.size() == 2);
  CHECK(recording.notes.untimed == 3);
}

TEST_CASE("a duration that reaches far over the next activity of its stream is clipped") {
  const Recording recording = recording_of(
      SampleTrace().kernel("a", "0", "3000000", 1).kernel("b", "100", "50", 2).document());
  CHECK(recording.activities.front().time == Interval{0, 100'000});
  CHECK(recording.notes.clipped == 1);
}

TEST_CASE("the busiest GPU of a process is looked at") {
  const std::string other =
      R"({"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":5,"dur":5,"args":{"device":1}})";
  const Recording recording = recording_of(sample_step().add(other).document());
  CHECK(recording.activities.size() == 2);
  CHECK(recording.notes.of_other_devices == 1);
}

TEST_CASE("a file that is cut is read as far as it goes, and that is said") {
  const std::string text = sample_step().document();
  const Observation cut = observed(text.substr(0, text.size() - 60));
  CHECK(cut.gpu.busy == 20'000);
  CHECK(is_said(cut.not_known, "The file is cut"));
  std::string long_text = "{\"traceEvents\": [";
  for (int i = 0; i < 5000; ++i)
    long_text +=
        fmt::format(R"({{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":7,"ts":{},"dur":1}},)",
                    i * 7919, 2 * i);
  const std::string whole = packed(long_text);
  const Recording half = recording_of(whole.substr(0, whole.size() / 2));
  CHECK(half.notes.is_cut);
  CHECK(half.activities.size() > 1000);
  CHECK(half.activities.size() < 4999);
}

TEST_CASE("events longer than what is read at a time") {
  const std::string stack(3'000'000, 's');
  const Recording recording = recording_of(
      sample_step()
          .add(
              R"({"ph":"X","cat":"cpu_op","name":"long","pid":100,"tid":1,"ts":1,"dur":1,"args":{"Call stack":")" +
              stack + "\"}}")
          .kernel("last", "2000", "1", 5)
          .document());
  CHECK(recording.activities.size() == 3);
  CHECK(recording.notes.damaged == 0);
}

TEST_CASE("what is no recording is refused by name") {
  const auto refused = [](const std::string& text, const std::string& part,
                          const std::string& name = "trace.json") {
    const std::string refusal = refusal_of(text, name);
    CAPTURE(refusal);
    CHECK(has(refusal, part));
    CHECK(refusal.find('\n') == std::string::npos);
  };
  refused("", "empty");
  refused("[[-1, 1, 512, 7], [-1, 1, 512, 7]]", "memory timeline");
  refused(R"({"schema": "1.0.1", "pid": 1, "nodes": []})", "execution trace of PyTorch");
  refused(R"({"workload_graph": []})", "Chakra");
  refused(R"({"rocprofiler-sdk-tool": [{}]})", "rocprofv3");
  refused(R"({"traceEvents": [{"ph":"X","cat":"blink","name":"x","ts":1,"dur":2}]})", "'blink'");
  refused(R"({"traceEvents": []})", "without its events");
  refused(R"({"a": )", "cut");
  refused(std::string("SQLite format 3\0....", 20), "database of SQLite");
  refused(std::string("\x0a\x0b\x00/host:CPU", 12), "XPlane");
  refused(std::string("\x5e\x12\x10\x0a\x06schema", 11), "Chakra");
  refused("\x80\x04\x95", "pickle");
  refused(packed("hello"), "neither a map nor a list");
  refused("\x1f\x8b" + std::string(100, 'x'), "cannot be unpacked");
  refused("[1, 2]", "a list of something else");
  refused("{]", "no key");
  std::string tar(600, '\0');
  tar.replace(257, 5, "ustar");
  refused(packed(tar), "archive of tar");
}

TEST_CASE("recordings are told from scenarios by what stands in them") {
  const TemporaryFolder folder;
  CHECK(looks_like_recording(folder.file("a.yaml", sample_step().document())));
  CHECK(looks_like_recording(folder.file("b.yaml", packed("model: x"))));
  CHECK(looks_like_recording(folder.file("c", sample_step().list())));
  CHECK(looks_like_recording(folder.file("d", std::string("SQLite format 3\0", 16))));
  CHECK_FALSE(looks_like_recording(folder.file("e.json", R"({"model": "llama2-7b"})")));
  CHECK_FALSE(looks_like_recording(folder.file("f.json", "model: llama2-7b\n")));
  CHECK_FALSE(looks_like_recording(folder.file("g", "")));
  CHECK_FALSE(looks_like_recording(folder.file("nowhere") + "x"));
  CHECK_FALSE(looks_like_recording("/dev/null"));
}
