// Explanations of scenarios with one planted bottleneck each: the planted one is named, and what a
// change claims to save is what the changed scenario saves when it is run by itself.
#include <algorithm>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include "sim/command/answer/what_if.hpp"
#include "sim/core/registry.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/what_if.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

struct Planted {
  const char* what;
  const char* text;
  const char* bound;  ///< how the verdict begins
  const char* limit;  ///< what saves most of all limits
  const char* next;   ///< what the next thing to try has in it
};

// Most cases plant something into a transformer of 12 layers on eight A100.
constexpr Planted kPlanted[] = {
    {"a loader whose workers decode too slowly",
     R"(
model: {name: m, layers: 12, hidden: 1024, heads: 16, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 1024, global_batch: 64, micro_batch: 8}
data: {sample_size: 500 KB, decode: 50 ms, workers: 2}
)",
     "data-bound: 2 workers deliver", "with an infinitely fast loader", "data.workers="},
    {"copies to the GPU from pageable memory",
     R"(
model: {name: m, layers: 2, hidden: 512, heads: 8, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 1024, global_batch: 64, micro_batch: 8}
data: {sample_size: 1 MB, device_bytes: 60 MB, decode: 0 s, workers: 2, pinned: false}
)",
     "data-bound", "with an infinitely fast loader", "data.pinned=true"},
    {"a host that launches slowly",
     R"(
model: {name: m, layers: 12, hidden: 512, heads: 8, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 256, global_batch: 8, micro_batch: 1}
host: {launch: 60 us}
)",
     "launch-bound", "with free kernel launches", "host.mode=graph"},
    {"gradients over slow NICs, not hidden",
     R"(
model: {name: m, layers: 12, hidden: 1024, heads: 16, vocabulary: 8192}
cluster:
  base: dgx-a100-80
  nodes: 4
  inter_node: {nics_per_node: 1, bandwidth: 40 Gbit/s, efficiency: 0.9, latency: 10 us}
training: {sequence_length: 1024, global_batch: 512, micro_batch: 16, attention: flash2, fusion: compiled}
parallelism: {data: {overlap: false}}
)",
     "network-bound", "with an infinitely fast network", "parallelism.data.overlap=true"},
    {"tensor parallelism over PCIe",
     R"(
model: {name: m, layers: 12, hidden: 1024, heads: 16, vocabulary: 8192}
cluster: {name: pcie, gpu: a100-80, gpus_per_node: 8, intra_node: {bandwidth: 12 GB/s, latency: 10 us}}
training: {sequence_length: 1024, global_batch: 16, micro_batch: 8}
parallelism: {tensor: 8}
)",
     "network-bound", "with an infinitely fast network", "parallelism.tensor=4"},
    {"experts whose tokens cross nodes though each rank has room for more of them",
     R"(
model: {name: m, layers: 4, hidden: 1024, heads: 8, vocabulary: 8192, experts: {count: 16, top_k: 2, ffn: 1024}}
cluster:
  base: dgx-a100-80
  nodes: 2
  inter_node: {nics_per_node: 1, bandwidth: 100 Gbit/s, efficiency: 0.9, latency: 10 us}
training: {sequence_length: 1024, global_batch: 256, micro_batch: 4, attention: flash2}
parallelism: {expert: {degree: 16}}
)",
     "network-bound", "with an infinitely fast network", "parallelism.expert.degree="},
    {"a checkpoint after every other step, written while all wait",
     R"(
model: {name: m, layers: 12, hidden: 1024, heads: 16, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 1024, global_batch: 64, micro_batch: 8, attention: flash2, fusion: compiled}
checkpoint: {every: 2, storage: {bandwidth: 10 GB/s}}
run: {steps: 4, warmup: 2}
)",
     "checkpoint-bound", "with checkpoints written in no time", "checkpoint.mode=async"},
    {"a long pipeline with few micro-batches",
     R"(
model: {name: m, layers: 16, hidden: 2048, heads: 16, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 1024, global_batch: 8, micro_batch: 4}
parallelism: {pipeline: {stages: 8}}
)",
     "bubble-bound", "without a pipeline bubble", "training.micro_batch=1"},
    {"recompute that memory does not ask for",
     R"(
model: {name: m, layers: 12, hidden: 2048, heads: 16, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 1024, global_batch: 64, micro_batch: 8, recompute: full, attention: flash2}
)",
     "compute-bound", "", "training.recompute=none"},
    {"micro-batches too small for the GPU",
     R"(
model: {name: m, layers: 12, hidden: 1024, heads: 16, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 128, global_batch: 128, micro_batch: 1, attention: flash2}
host: {mode: graph}
)",
     "compute-bound", "", "training.micro_batch=4"},
};

Scenario read(const std::string& text, const std::vector<std::string>& settings) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return parse_scenario(text, "planted.yaml", Library{{source_folder()}}, overrides, known_names());
}

Explanation explained(const std::string& text) {
  return explain(read(text, {}), [&](const auto& settings) { return read(text, settings); });
}

const ChangeOutcome* best_limit(const Explanation& e) {
  const auto found = std::find_if(e.changes.begin(), e.changes.end(), [](const auto& change) {
    return change.kind == ChangeKind::limit;
  });
  return found == e.changes.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("every family that a limit names is there") {
  for (const Limit* limit : Registry<Limit>::all()) {
    CAPTURE(limit->name);
    REQUIRE_FALSE(limit->proposals.empty());
    for (const std::string_view name : limit->proposals)
      CHECK(Registry<Proposal>::find(name) != nullptr);
  }
}

TEST_CASE("the bottleneck that was planted is the one that is named") {
  for (const Planted& planted : kPlanted) {
    CAPTURE(planted.what);
    const Explanation e = explained(planted.text);
    CAPTURE(e.verdict.sentence);
    CAPTURE(e.verdict.next);
    CHECK(e.verdict.sentence.starts_with(planted.bound));
    CHECK(e.verdict.next.find(planted.next) != std::string::npos);
    if (*planted.limit != '\0') {
      REQUIRE(best_limit(e) != nullptr);
      CHECK(best_limit(e)->title == planted.limit);
    }
  }
}

TEST_CASE("the verdict of an explanation names the limit that the verdict of a run names") {
  const auto named = [](const Verdict& verdict) {
    return verdict.sentence.substr(0, verdict.sentence.find(':'));
  };
  for (const Planted& planted : kPlanted) {
    CAPTURE(planted.what);
    const Explanation e = explained(planted.text);
    CHECK(named(e.verdict) == named(e.metrics.verdict));
  }
}

TEST_CASE("a loader that sets the pace binds a step of which the GPUs compute three quarters") {
  // A batch of 512 ms in each of four workers: a step of 128 ms, whatever the GPUs take of it.
  const Explanation e = explained(R"(
model: resnet50
cluster: {base: dgx-a100-80, nodes: 1}
training: {global_batch: 2048, micro_batch: 256, precision: fp16, optimizer: momentum, gradient_clipping: false}
data: {sample_size: 500 KB, device_bytes: 150528 B, decode_rate: 250 MB/s, workers: 4}
)");
  CHECK(e.metrics.step_time.seconds() == doctest::Approx(0.128).epsilon(0.01));
  CHECK(e.metrics.verdict.sentence.starts_with("data-bound"));
  CHECK(e.verdict.sentence.starts_with("data-bound: 4 workers deliver"));
}

TEST_CASE("what a setting claims to save is what the changed scenario saves by itself") {
  for (const Planted& planted : kPlanted) {
    CAPTURE(planted.what);
    const Explanation e = explained(planted.text);
    CHECK(e.metrics.step_time.seconds() ==
          nine_digits(Experiment(read(planted.text, {})).step_seconds()));
    int settings = 0;
    for (const ChangeOutcome& change : e.changes) {
      if (change.kind != ChangeKind::setting) continue;
      CAPTURE(change.title);
      ++settings;
      const Experiment changed(read(planted.text, change.settings));
      CHECK(change.step.seconds() == nine_digits(changed.step_seconds()));
      CHECK(change.fits == changed.metrics().memory.fits());
    }
    CHECK(settings > 2);
  }
}

TEST_CASE(
    "a vocabulary that is padded and GPUs that are alike are tried where they change a step") {
  const auto titles = [](const char* vocabulary, const char* rest) {
    std::set<std::string> found;
    const Explanation e = explained(fmt::format(R"(
model: {{name: m, layers: 2, hidden: 512, heads: 8, vocabulary: {}}}
cluster: {{base: dgx-a100-80, nodes: 1}}
training: {{sequence_length: 256, global_batch: 8, micro_batch: 1}}
{}
)",
                                                vocabulary, rest)
                                        .c_str());
    for (const ChangeOutcome& change : e.changes) found.insert(change.title);
    return found;
  };
  const std::string padded = "training.vocabulary_multiple=128";
  const std::string alike = "all GPUs as fast as the mean one";
  const auto odd = titles("50257", "");
  CHECK(odd.contains(padded));
  CHECK(odd.contains(alike));
  CHECK_FALSE(titles("50304", "").contains(padded));
  CHECK_FALSE(titles("50257", "parallelism: {tensor: 2}").contains(padded));
  CHECK_FALSE(titles("50257", "framework: megatron").contains(padded));
  CHECK_FALSE(titles("50257", "faults: {gpu_spread: 0}").contains(alike));
  const auto slow = titles("50257", "faults: {slow_gpus: [{ranks: [0], factor: 1.5}]}");
  CHECK(slow.contains(alike + ", slow ones times their factors"));
  CHECK(slow.contains("without slow GPUs"));
}

TEST_CASE("another sharding is proposed without the gathers that it does not have") {
  const auto proposed = [](const std::string& data) {
    const std::string text = R"(
model: {kind: mlp, name: m, layers: 4, width: 1024}
cluster: {base: dgx-a100-80, nodes: 1}
training: {global_batch: 64}
parallelism: {data: {)" + data +
                             "}}\n";
    std::vector<std::string> all;
    for (const Proposal* proposal : Registry<Proposal>::all()) {
      for (const Change& change : proposal->changes(read(text.c_str(), {}))) {
        if (change.settings.empty() || !change.settings.front().starts_with("parallelism.data.sha"))
          continue;
        all.push_back(fmt::format("{}", fmt::join(change.settings, " ")));
        CHECK_NOTHROW(read(text.c_str(), change.settings));
      }
    }
    return all;
  };
  const std::string key = "parallelism.data.";
  CHECK(proposed("sharding: zero2, overlap_param_gather: true, align_param_gather: true") ==
        std::vector{key + "sharding=zero1",
                    key + "sharding=ddp " + key + "overlap_param_gather=false " + key +
                        "align_param_gather=false",
                    key + "sharding=zero3 " + key + "overlap_param_gather=false " + key +
                        "align_param_gather=false"});
  CHECK(proposed("sharding: ddp") ==
        std::vector{key + "sharding=zero1", key + "sharding=zero2", key + "sharding=zero3"});
  CHECK(proposed("sharding: zero3, copy_out: true").front() ==
        key + "sharding=zero2 " + key + "copy_out=false");
}

TEST_CASE("switches of when gradients and parameters move are proposed in their other position") {
  const auto proposed = [](const std::string& data) {
    const std::string text = R"(
model: {kind: mlp, name: m, layers: 4, width: 1024}
cluster: {base: dgx-a100-80, nodes: 1}
training: {global_batch: 64}
parallelism: {data: {)" + data +
                             "}}\n";
    std::set<std::string> all;
    for (const Change& change :
         Registry<Proposal>::find("overlap")->changes(read(text.c_str(), {}))) {
      all.insert(fmt::format("{}", fmt::join(change.settings, " ")));
      CHECK_NOTHROW(read(text.c_str(), change.settings));
    }
    return all;
  };
  const std::string key = "parallelism.data.";
  const auto gathers = proposed("sharding: zero1, overlap: true, overlap_param_gather: true");
  CHECK(gathers.contains(key + "overlap_param_gather=false"));
  CHECK(gathers.contains(key + "align_param_gather=true"));
  CHECK(gathers.contains(key + "overlap=false " + key + "overlap_param_gather=false"));
  CHECK(gathers.contains(key + "no_sync=false"));
  const auto aligned = proposed(
      "sharding: zero1, overlap: true, overlap_param_gather: true, align_param_gather: true");
  CHECK(aligned.contains(key + "align_param_gather=false"));
  CHECK(aligned.contains(key + "overlap_param_gather=false " + key + "align_param_gather=false"));
  const auto whole = proposed("sharding: zero3, forward_prefetch: true");
  CHECK(whole.contains(key + "forward_prefetch=false"));
  CHECK(whole.contains(key + "limit_all_gathers=true"));
  CHECK_FALSE(proposed("sharding: ddp").contains(key + "overlap_param_gather=true"));
}

TEST_CASE("what does not fit is told the fastest setting that does") {
  const std::string text = R"(
model: llama3-8b
cluster: {base: dgx-h100, nodes: 1}
training: {sequence_length: 4096, global_batch: 8, attention: flash3}
)";
  const Explanation e = explained(text);
  REQUIRE_FALSE(e.metrics.memory.fits());
  CHECK(e.verdict.next.find(", and it fits: ") != std::string::npos);
  const ChangeOutcome* best = best_setting(e.metrics, e.changes);
  REQUIRE(best != nullptr);
  CHECK(Experiment(read(text, best->settings)).metrics().memory.fits());
  bool has_sharding = false;
  for (const ChangeOutcome& change : e.changes) {
    if (change.kind == ChangeKind::setting && change.fits) CHECK(change.step >= best->step);
    has_sharding |= change.title == "parallelism.data.sharding=zero1" && change.fits;
  }
  CHECK(has_sharding);
}

TEST_CASE("settings that only make room are proposed where there is none") {
  const auto count = [](const char* model) {
    return Registry<Proposal>::find("memory")
        ->changes(read(fmt::format("model: {}\ncluster: {{base: dgx-h100, nodes: 1}}\n"
                                   "training: {{sequence_length: 4096, global_batch: 8}}\n",
                                   model),
                       {}))
        .size();
  };
  CHECK(count("llama3-8b") > 5);
  CHECK(count("{base: llama3-8b, layers: 2}") == 0);
}

TEST_CASE("one tensor rank is proposed without what is about several") {
  const char* text = R"(
model: {name: t, layers: 2, hidden: 1024, heads: 8, gated_mlp: true, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {global_batch: 8, sequence_length: 512, attention: flash2}
parallelism: {tensor: 2, sequence: true, dtensor: true, gather_each: true}
)";
  int proposals = 0;
  for (const Proposal* proposal : Registry<Proposal>::all()) {
    for (const Change& change : proposal->changes(read(text, {}))) {
      if (change.settings.empty() || change.settings.front() != "parallelism.tensor=1") continue;
      ++proposals;
      CHECK_NOTHROW(read(text, change.settings));
    }
  }
  CHECK(proposals > 0);
}

TEST_CASE("as many workers as are said fill the GPU, and one less does not") {
  const char* text = kPlanted[0].text;
  const Explanation e = explained(text);
  REQUIRE(e.loader.has_value());
  REQUIRE(e.loader->enough.has_value());
  const auto step = [&](int workers) {
    return Experiment(read(text, {fmt::format("data.workers={}", workers)})).step_seconds();
  };
  const Experiment experiment(read(text, {}));
  const double free = mean_step(simulate(with_free_workers(experiment.plan)).timeline).seconds();
  CHECK(step(*e.loader->enough) <= 1.05 * free);
  CHECK(step(*e.loader->enough - 1) > 1.01 * step(2 * *e.loader->enough));
  // 8 samples of 50 ms in each of two workers: 40 samples a second.
  CHECK(e.loader->delivered == doctest::Approx(40).epsilon(0.02));
  CHECK(e.loader->taken == nine_digits(8 / free));
}

TEST_CASE("workers fill a GPU up to the copies that nothing hides") {
  // A transform of 512 ms a batch beside steps of some 99 ms; the copy of each batch, which every
  // loader has to make, is above 1 % of that. Five workers take 102 ms, six 85 ms.
  const Explanation e = explained(R"(
model: resnet50
cluster: {base: dgx-a100-80, nodes: 1}
training: {global_batch: 2048, micro_batch: 256, precision: fp16, optimizer: momentum, gradient_clipping: false}
data: {sample_size: 500 KB, device_bytes: 150528 B, decode: 0 s, transform_rate: 250 MB/s, workers: 1}
)");
  REQUIRE(e.loader.has_value());
  CHECK(e.loader->enough == 6);
  CHECK(e.verdict.next.starts_with("--set data.workers=6"));
}

TEST_CASE("workers fill a GPU that then waits for nothing but copies") {
  // 2048 ms of decoding a batch: 12 workers take 171 ms, 24 take 85 ms, beside some 94 ms of the
  // GPU's own work and copies of fp32 pixels: 256 x 602112 bytes, another twentieth of a step.
  const auto verdict = [](int workers, const char* more = "") {
    const Explanation e = explained(fmt::format(R"(
model: resnet50
cluster: {{base: dgx-a100-80, nodes: 1}}
training: {{global_batch: 2048, micro_batch: 256, precision: fp16, optimizer: momentum, gradient_clipping: false}}
data: {{sample_size: 110 KB, decode: 8 ms, workers: {}{}}}
)",
                                                workers, more));
    return e.verdict.sentence;
  };
  const std::string twelve = verdict(12);
  CAPTURE(twelve);
  CHECK(twelve.find("no number of workers") == std::string::npos);
  CHECK(twelve.find(" would fill it, but for ") != std::string::npos);
  CHECK(twelve.ends_with(" ms of copies to the GPU"));
  // With 20 times the decoding, not even the most workers that are tried are enough; more is not
  // said.
  CHECK(verdict(12, ", decode_rate: 700 KB/s").ends_with("; not even 48 would fill it"));
  CHECK(verdict(48, ", decode_rate: 700 KB/s").ends_with("; more were not tried"));
  // As many workers as a node has memory for are not enough either.
  const std::string scarce = verdict(12, ", worker_memory: 1 GiB, host_memory: 160 GiB");
  CAPTURE(scarce);
  CHECK(scarce.find("no number of workers") == std::string::npos);
}

TEST_CASE("workers are not blamed for the copy to the GPU") {
  const std::string text = R"(
model: resnet50
cluster: {base: dgx-a100-80, nodes: 1}
training: {global_batch: 2048, micro_batch: 256, precision: fp16, optimizer: momentum, gradient_clipping: false}
data: {sample_size: 110 KB, decode: 0 s, workers: 8, h2d_bandwidth: 5 GB/s}
)";
  const Explanation e = explained(text);
  const auto spent = [&](Cause cause) {
    return e.metrics.breakdown[static_cast<std::size_t>(cause)];
  };
  REQUIRE(spent(Cause::h2d) > 10 * spent(Cause::batch_wait));
  CHECK_FALSE(e.loader.has_value());
  CHECK(e.verdict.next.starts_with("--set data.device_bytes=150528B"));
}

TEST_CASE("storage that is too slow is not helped by workers") {
  const Explanation e = explained(R"(
model: {name: m, layers: 2, hidden: 512, heads: 8, vocabulary: 8192}
cluster: {base: dgx-a100-80, nodes: 1}
training: {sequence_length: 512, global_batch: 64, micro_batch: 8}
data: {sample_size: 5 MB, decode: 0 s, workers: 4, storage: {bandwidth: 200 MB/s, latency: 0 s}}
)");
  REQUIRE(e.loader.has_value());
  CHECK_FALSE(e.loader->enough.has_value());
  CHECK(e.verdict.sentence.ends_with("no number of workers would fill it"));
  const auto storage = std::find_if(e.changes.begin(), e.changes.end(), [](const auto& change) {
    return change.title == "storage twice as fast";
  });
  REQUIRE(storage != e.changes.end());
  CHECK(storage->step.seconds() ==
        doctest::Approx(e.metrics.step_time.seconds() / 2).epsilon(0.02));
}

TEST_CASE("a faster network that makes a step longer says that its channels take SMs") {
  const Explanation e = explained(R"(
model: {base: qwen3-32b, layers: 8}
cluster: {base: dgx-h100, nodes: 8}
framework: pytorch-fsdp2
training: {sequence_length: 4096, global_batch: 128, micro_batch: 1, attention: flash3, recompute: full}
)");
  int longer = 0;
  for (const ChangeOutcome& change : e.changes) {
    if (change.kind != ChangeKind::hardware || change.step < e.metrics.step_time * 1.001) {
      CHECK_FALSE(change.contention.has_value());
      continue;
    }
    ++longer;
    REQUIRE(change.contention.has_value());
    CHECK(change.contention->more > 0.5 * (change.step - e.metrics.step_time));
    CHECK(change.contention->held_then > change.contention->held_now);
    const std::string text = to_table(e, {});
    CHECK(text.find("    compute slowed by collectives takes ") != std::string::npos);
    CHECK(text.find("NCCL opens more channels") != std::string::npos);
  }
  CHECK(longer == 1);
}

TEST_CASE("the pieces of the path and its causes sum to the step") {
  for (const Planted& planted : kPlanted) {
    CAPTURE(planted.what);
    const Explanation e = explained(planted.text);
    double pieces = 0, causes = 0;
    for (const PathPiece& piece : e.path.pieces) pieces += piece.seconds.seconds();
    for (const double cause : e.metrics.critical) causes += cause;
    CHECK(pieces == nine_digits(e.metrics.step_time.seconds()));
    CHECK(causes == nine_digits(e.metrics.step_time.seconds()));
  }
}

TEST_CASE("a step without a bubble is as long as its slowest stage works") {
  // Eight equal stages of 3 + 7 ms a micro-batch, two micro-batches: 20 of 90 ms.
  const Experiment experiment(on_paper(R"(
model: {name: m, kind: mlp, layers: 8, width: 1}
cluster: {name: c, gpu: a100-80, gpus_per_node: 8, intra_node: {bandwidth: 1 GB/s, latency: 0 us}}
training: {global_batch: 2, precision: fp16, gradient_clipping: false}
parallelism: {pipeline: {stages: 8}}
host: {launch: 0 us}
)"),
                              paper_graph(paper_layer(3_ms, 7_ms), 8));
  CHECK(experiment.step_seconds() == nine_digits(90e-3));
  CHECK(mean_step(simulate(without_bubble(experiment.plan)).timeline).seconds() ==
        nine_digits(20e-3));
  CHECK(mean_step(simulate(with_faster_gpus(experiment.plan, 2)).timeline).seconds() ==
        nine_digits(45e-3));
  CHECK(mean_step(simulate(without_compute(experiment.plan)).timeline).seconds() < 1e-3);
}
