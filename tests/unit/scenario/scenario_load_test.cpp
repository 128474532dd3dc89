// A scenario as a whole: defaults, names and bases, overrides, and that writing and reading are
// inverse.
#include <filesystem>
#include <fstream>
#include <variant>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/scenario/job_fingerprint.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

const fs::path kRoot = source_folder();
const Library kLibrary{{(kRoot / "tests/errors/library").string()}};
const std::string kMinimal = R"(
model: tiny
cluster: pod
training: {sequence_length: 512, global_batch: 64}
)";

Scenario parse(const std::string& text, const std::vector<Override>& overrides = {}) {
  return parse_scenario(text, "case.yaml", kLibrary, overrides);
}

std::string error_of(const std::string& text, const std::vector<Override>& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

/// The whole text of a file.
std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_round_trip(const Scenario& scenario, const std::string& file, const Library& library) {
  const Scenario again = parse_scenario(to_yaml(scenario), file, library);
  CHECK(again == scenario);
  CHECK(again.name == scenario.name);
  CHECK(again.hash == scenario.hash);
}

}  // namespace

TEST_CASE("what a scenario leaves out is filled in") {
  const Scenario s = parse(kMinimal);
  CHECK(s.name == "case");
  CHECK(s.training.micro_batch == 1);
  CHECK(s.training.gradients == Precision::bf16);
  CHECK(s.parallelism.data.bucket == 25_MiB);
  CHECK(s.parallelism.data.first_bucket == 1_MiB);
  CHECK(s.host.launch == 16_us);
  CHECK_FALSE(s.data.has_value());
  const auto& model = std::get<Transformer>(s.model.shape);
  CHECK(s.model.name == "tiny");
  CHECK(model.kv_heads == 8);
  CHECK(model.head_dim == 32);
  CHECK(model.ffn == 1024);
  CHECK(s.cluster.name == "pod");
  CHECK(s.cluster.gpus() == 32);
  CHECK(s.cluster.inter_node->nics_per_node == 8);
  CHECK(s.cluster.inter_node->bandwidth == 25_GBps);
}

TEST_CASE("defaults follow the keys above them") {
  const Scenario s = parse(kMinimal + R"(
parallelism:
  pipeline: {stages: 2, chunks: 2, schedule: interleaved}
  data: {bucket: 100 MB}
data: {sample_size: 1 KiB}
)",
                           {{"training.precision", "fp16"}});
  CHECK(s.training.gradients == Precision::fp16);
  CHECK(s.parallelism.pipeline.overlap_p2p);
  CHECK(s.parallelism.data.first_bucket.bytes() == 100e6);
  CHECK(s.data->device_bytes.bytes() == 8 * 512);
}

TEST_CASE("a GPU profile is read with its sources and its likenesses") {
  const GpuProfile gpu = load_gpu("testgpu", kLibrary);
  REQUIRE(gpu.gemm.size() == 3);
  CHECK(gpu.gemm[0].precision == Precision::bf16);
  CHECK(gpu.gemm[0].efficiency == doctest::Approx(0.85));
  CHECK(gpu.gemm[1].precision == Precision::fp16);
  CHECK(gpu.gemm[1].peak == 300_TFLOPps);
  CHECK(gpu.gemm[2].peak == 20_TFLOPps);
  CHECK(gpu.gemm[2].overhead == 3_us);
  CHECK(std::holds_alternative<TiledGemm>(gpu.gemm[0].form));
  REQUIRE(std::holds_alternative<SmoothGemm>(gpu.gemm[2].form));
  CHECK(std::get<SmoothGemm>(gpu.gemm[2].form).half_k == 64);
  REQUIRE(gpu.attention.size() == 2);
  CHECK(gpu.attention[1].head_dim == 64);
  CHECK(gpu.hash.size() == 16);
}

TEST_CASE("a link is measured when it has a file, and plain numbers when inline") {
  const Cluster pod = load_cluster("pod", kLibrary);
  CHECK(pod.intra_node.name == "testlink");
  REQUIRE(pod.intra_node.all_reduce.size() == 1);
  CHECK(pod.intra_node.all_reduce[0].bandwidth == 135_GBps);
  const Cluster box = load_cluster("box", kLibrary);
  CHECK(box.intra_node.hash.empty());
  CHECK(box.intra_node.latency == 5_us);
}

TEST_CASE("a base is taken over key by key") {
  const Scenario s = parse(R"(
model: {base: tiny, layers: 4}
cluster: {base: pod, nodes: 2, inter_node: {latency: 3 us}}
training: {sequence_length: 512, global_batch: 64}
)");
  CHECK(std::get<Transformer>(s.model.shape).layers == 4);
  CHECK(std::get<Transformer>(s.model.shape).hidden == 256);
  CHECK(s.cluster.gpus() == 16);
  CHECK(s.cluster.inter_node->latency == 3_us);
  CHECK(s.cluster.inter_node->efficiency == doctest::Approx(0.94));
}

TEST_CASE("an override wins over the file, and a later one over an earlier one") {
  const Scenario s = parse(kMinimal, {{"training.micro_batch", "8"},
                                      {"training.micro_batch", "2"},
                                      {"run.seed", "7"},
                                      {"expect.mfu", ">= 38 %"}});
  CHECK(s.training.micro_batch == 2);
  CHECK(s.run.seed == 7);
  REQUIRE(s.expect.size() == 1);
  CHECK(s.expect[0].value == doctest::Approx(0.38));
}

TEST_CASE("overriding a key of a named cluster or model bases it on that name") {
  const Scenario s = parse(kMinimal, {{"cluster.nodes", "8"}, {"model.layers", "16"}});
  CHECK(s.cluster.nodes == 8);
  CHECK(s.cluster.gpus_per_node == 8);
  CHECK(std::get<Transformer>(s.model.shape).layers == 16);
}

TEST_CASE("one key of a named link is changed, wherever its name stands, and needs no source") {
  for (const char* cluster : {"pod", "{base: pod, nodes: 2}"}) {
    CAPTURE(cluster);
    const std::string text = fmt::format(
        "model: tiny\ncluster: {}\ntraining: {{sequence_length: 512, global_batch: 64}}\n",
        cluster);
    const LinkProfile whole = parse(text).cluster.intra_node;
    const Scenario s = parse(text, {{"cluster.intra_node.latency", "9 us"},
                                    {"cluster.intra_node.bandwidth", "123 GB/s"}});
    const LinkProfile& link = s.cluster.intra_node;
    CHECK(link.latency == 9_us);
    CHECK(link.bandwidth == 123_GBps);
    CHECK(link.efficiency == whole.efficiency);
    CHECK(link.all_reduce == whole.all_reduce);
    CHECK(link.name == whole.name);
    CHECK(link.hash != whole.hash);
    check_round_trip(s, "case.yaml", kLibrary);
  }
  const Scenario s = parse(R"(
model: tiny
cluster: {base: pod, intra_node: {base: testlink, bandwidth: 123 GB/s}}
training: {sequence_length: 512, global_batch: 64}
)");
  CHECK(s.cluster.intra_node.bandwidth == 123_GBps);
  CHECK(to_yaml(s).find("intra_node: {base: testlink, bandwidth: 123 GB/s}") != std::string::npos);
  check_round_trip(s, "case.yaml", kLibrary);
}

TEST_CASE("one key of a GPU is changed likewise, and a map in a file replaces a name") {
  const Scenario s = parse(kMinimal, {{"cluster.gpu.memory", "40 GiB"}});
  CHECK(s.cluster.gpu.memory == 40_GiB);
  CHECK(s.cluster.gpu.sms == parse(kMinimal).cluster.gpu.sms);
  check_round_trip(s, "case.yaml", kLibrary);
  CHECK(error_of("model: tiny\ncluster: {base: pod, intra_node: {bandwidth: 1 GB/s}}\n"
                 "training: {sequence_length: 512, global_batch: 64}\n")
            .find("missing key 'latency' in 'cluster.intra_node'") != std::string::npos);
}

TEST_CASE("null takes an optional part away") {
  const Scenario s =
      parse(kMinimal + "data: {sample_size: 1 KiB}\n",
            {{"data", "null"}, {"cluster.inter_node", "null"}, {"cluster.nodes", "1"}});
  CHECK_FALSE(s.data.has_value());
  CHECK_FALSE(s.cluster.inter_node.has_value());
}

TEST_CASE("a mistaken override is cited by itself") {
  CHECK(error_of(kMinimal, {{"training.precsion", "fp16"}}) ==
        "--set training.precsion=fp16: unknown key 'precsion' in 'training', did you mean "
        "'precision'?");
  CHECK(error_of(kMinimal, {{"training.precision.x", "1"}}) ==
        "--set training.precision.x=1: training.precision: expected fp32, tf32, fp16, bf16, fp8 or "
        "nvfp4, "
        "not a map");
  CHECK(error_of(kMinimal, {{"name", "x"}, {"name.x", "1"}}) ==
        "--set name.x=1: 'name' is a value and has no keys");
  CHECK(error_of(kMinimal, {{"a.b.c.d.e.f.g.h.i", "1"}}) ==
        "--set a.b.c.d.e.f.g.h.i=1: no key of a scenario is that deep");
  CHECK(parse_override("a.b=c=d").value == "c=d");
  CHECK_THROWS_AS(parse_override("training.micro_batch"), UserError);
  CHECK_THROWS_AS(parse_override("=3"), UserError);
}

TEST_CASE("expectations are in base units") {
  const Scenario s = parse(kMinimal + R"(
expect:
  step_time: "<= 460 ms"
  mfu: [">= 38 %", "< 0.5"]
  tokens_per_s: "> 1e6"
  peak_memory: "<= 70 GiB"
  fits: true
)");
  REQUIRE(s.expect.size() == 6);
  CHECK(s.expect[0].comparison == "<=");
  CHECK(s.expect[0].value == doctest::Approx(0.46));
  CHECK(s.expect[0].text == "step_time <= 460 ms");
  CHECK(s.expect[2].value == 0.5);
  CHECK(s.expect[3].value == 1e6);
  CHECK(s.expect[5].value == 1);
  CHECK(s.expect[5].text == "fits: true");
}

TEST_CASE("a scenario that is written reads back as an equal one") {
  const std::vector<std::string> texts{
      kMinimal,
      kMinimal + "name: \"true: #1\"\ndescription: |\n  two lines, \"quoted\"\n  and \\ back\n",
      kMinimal +
          "parallelism: {tensor: 8, sequence: true, pipeline: {stages: 4, layers: [1, 2, 2, 3]}, "
          "data: {degree: 1}}\n"
          "data: {sample_size: 3.3 KB, decode: 7 samples/s, h2d_bandwidth: 11 GiB/s, workers: 0}\n"
          "host: {launch: 4.7 us, mode: graph}\nexpect: {mfu: ['>= 38 %', '<= 45 %'], fits: "
          "false}\n",
      "model: stack\ncluster: {base: box, intra_node: {bandwidth: 1 Tbit/s, latency: 0.1 us}}\n"
      "training: {global_batch: 64}\n",
      "model: tiny\ncluster: {base: pod, node_topology: {kind: custom, switches: [cpu 0..1], "
      "links: "
      "[{from: gpu 0..7, to: cpu 0, bandwidth: 25 GB/s, back: 0.3 GB/s}, {from: cpu 0, to: cpu 1, "
      "bandwidth: 16 GB/s}]}, inter_node: {topology: custom, switches: [leaf], links: [{from: node "
      "0..3, to: leaf, bandwidth: 1 Tbit/s}]}}\ntraining: {sequence_length: 512, global_batch: "
      "64}\n",
      "model: tiny\ncluster: {base: pod, node_topology: pcie, inter_node: {topology: fat_tree, "
      "nodes_per_leaf: 1, leaves_per_pod: 2, oversubscription: [1, 1.5]}}\n"
      "training: {sequence_length: 512, global_batch: 64}\n",
      "model: {base: rotary, layers: 8}\ncluster: {gpu: testgpu}\n"
      "training: {sequence_length: 100, global_batch: 3, attention: flash2, optimizer: sgd}\n"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    check_round_trip(parse(text), "case.yaml", kLibrary);
  }
}

TEST_CASE("every scenario that is shipped loads, and reads back as an equal one") {
  for (const auto& entry : fs::directory_iterator(kRoot / "scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    const Library library = library_for(entry.path().string());
    check_round_trip(load_scenario(entry.path().string()), entry.path().string(), library);
  }
}

TEST_CASE("every model, cluster, GPU and link that is shipped loads") {
  const Library library{{kRoot.string()}};
  CHECK(names_in("models", library).size() > 10);
  for (const std::string& name : names_in("models", library))
    CHECK_NOTHROW(load_model(name, library));
  for (const std::string& name : names_in("calib/gpus", library))
    CHECK_NOTHROW(load_gpu(name, library));
  for (const std::string& name : names_in("calib/links", library))
    CHECK_NOTHROW(load_link(name, library));
  for (const std::string& name : names_in("scenarios/clusters", library)) {
    CHECK_NOTHROW(load_cluster(name, library));
  }
}

TEST_CASE("the hash changes with every value and with nothing else") {
  const Scenario s = parse(kMinimal);
  CHECK(parse(kMinimal + "# a comment\n").hash == s.hash);
  CHECK(parse(kMinimal + "run: {steps: 2}\n").hash == s.hash);
  CHECK(parse(kMinimal, {{"run.steps", "3"}}).hash != s.hash);
}

TEST_CASE("the library of a scenario is the environment, its parents and the source tree") {
  ::setenv("STEPSIM_LIBRARY", "/first:/second", 1);
  const Library library = library_for((kRoot / "tests/errors/library/models/tiny.yaml").string());
  ::unsetenv("STEPSIM_LIBRARY");
  const auto has = [&](const fs::path& root) {
    return std::find(library.roots.begin(), library.roots.end(), root.string()) !=
           library.roots.end();
  };
  CHECK(library.roots[0] == "/first");
  CHECK(library.roots[1] == "/second");
  CHECK(has(kRoot / "tests/errors/library"));
  CHECK(library.roots.back() == kRoot.string());
}

TEST_CASE("a job stays the same whatever the way to do it, and nothing else") {
  const std::string job = job_fingerprint(parse(kMinimal));
  for (const char* way : {"parallelism.tensor=2", "training.micro_batch=2",
                          "training.recompute=full", "parallelism.data.sharding=zero3"})
    CHECK_MESSAGE(job_fingerprint(parse(kMinimal, {parse_override(way)})) == job, way);
  for (const char* other : {"training.global_batch=128", "training.sequence_length=256",
                            "cluster.nodes=2", "training.precision=fp16"})
    CHECK_MESSAGE(job_fingerprint(parse(kMinimal, {parse_override(other)})) != job, other);
}

TEST_CASE("a scenario is called by as much of its file's name as is text") {
  const auto name_of = [](const std::string& file) {
    return parse_scenario(kMinimal, file, kLibrary).name;
  };
  CHECK(name_of("\xff\xfe.yaml") == "scenario");
  CHECK(name_of("runs/caf\xc3\xa9 \xff 2.yaml") == "caf\xc3\xa9  2");
}

TEST_CASE("the example of docs/scenario.md is a scenario") {
  const std::string text = text_of(kRoot / "docs/scenario.md");
  const auto from = text.find("```yaml\n") + 8;
  const std::string example = text.substr(from, text.find("```", from) - from);
  CHECK(parse_scenario(example, "example.yaml", {{kRoot.string()}}).cluster.gpus() == 1024);
}
