// The one description of every map in a scenario: keys, defaults, ranges and meaning.
//
// `describe(io, value)` is called with a MapReader (fills the value), a MapWriter (writes it as
// YAML) or a DocWriter (makes a table of it). So what is read, written and documented cannot drift
// apart. Keys are read in the order in which they stand here: a default may depend on the keys
// above it (`fallback`).
#pragma once

#include <string>
#include <string_view>

#include "sim/scenario/describe/default_attention.hpp"
#include "sim/scenario/describe/describe_checkpoint.hpp"
#include "sim/scenario/describe/describe_cluster.hpp"
#include "sim/scenario/describe/describe_faults.hpp"
#include "sim/scenario/describe/describe_host.hpp"
#include "sim/scenario/describe/describe_input.hpp"
#include "sim/scenario/describe/describe_model.hpp"
#include "sim/scenario/describe/describe_parallelism.hpp"
#include "sim/scenario/describe/describe_training.hpp"
#include "sim/scenario/describe/run_defaults.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/rules.hpp"
#include "sim/scenario/read/scalar.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

template <class Io>
void describe(Io& io, CollectiveChoice& c) {
  io.field("algorithm", c.algorithm, any,
           "a name of `stepsim list collectives`; auto: NCCL's choice");
  io.field("protocol", c.protocol, any, "of NCCL; absent: its choice");
}

template <class Io>
void describe(Io& io, Collectives& c) {
  io.field("nccl", c.nccl, any, "release whose cost model chooses, docs/collectives.md");
  io.section("all_reduce", "algorithm", c.all_reduce, "how all-reduces run");
  io.section("all_gather", "algorithm", c.all_gather, "how all-gathers run");
  io.section("reduce_scatter", "algorithm", c.reduce_scatter, "how reduce-scatters run");
  io.section("all_to_all", "algorithm", c.all_to_all, "how all-to-alls run");
}

template <class Io>
void describe(Io& io, Run& r) {
  const std::string_view more = "; more with `data`: two turns of the loaders' queue";
  io.fallback(
      r.steps, r.steps,
      "2" + std::string(more) + "; whole periods of `checkpoint` and of what `host` repeats");
  io.field("steps", r.steps, between(1, 10'000), "steps that are measured");
  io.fallback(r.warmup, r.warmup, "1" + std::string(more) + "; a period of `checkpoint`");
  io.field("warmup", r.warmup, between(0, 10'000), "steps before them");
  io.field("seed", r.seed, any,
           "of all that is random: `faults` with a fraction or jitter, `data.variation`");
  io.field("replicas", r.replicas, between(1, 100'000),
           "runs that differ in what is random; the report has their mean, median and spread");
  io.field("horizon", r.horizon, any,
           "how far a run of many steps goes, drawn from those that are simulated: \"7 days\", "
           "\"10000 steps\", \"2T tokens\"; absent: none is reported");
  io.fallback(r.flops, r.flops, "megatron; gemms for models that are no transformer");
  io.field("flops", r.flops, any,
           "which FLOPs MFU, HFU and TFLOP/s count: a name of `stepsim list conventions`");
  io.field("memory_margin", r.memory_margin, between(0, 0.9),
           "share of a GPU's memory that `search` and proposals leave free, with what the "
           "allocator caches: of 27 measured runs that are predicted to fill 93 % and more two "
           "took about 30 % longer than predicted");
  io.field("engine", r.engine, any,
           "what shares links among transfers: simgrid is a second opinion, docs/engine.md");
}

template <class Io>
void describe(Io& io, Cost& c) {
  io.field("price", c.price, required(between(0, 1e6)),
           "rent of one GPU with its share of node, network and storage");
}

template <class Io>
void describe(Io& io, Energy& e) {
  io.field("host", e.host, between(0, 1e5),
           "power per GPU of all but the boards: CPUs, memory, NICs, fans, losses; absent: 42 % of "
           "the GPU's power_limit is assumed");
  io.field("pue", e.pue, between(1, 5),
           "power of the facility, cooling included, over that of its machines; absent: 1.2 is "
           "assumed");
  io.field("carbon", e.carbon, between(0, 5000),
           "CO2 equivalents of the electricity; absent: the world's mean, 445 g/kWh, is assumed");
}

template <class Io>
void describe(Io& io, Scenario& s) {
  io.fallback(s.name, s.name, "the file's name");
  io.field("name", s.name, any, "of the scenario, in reports");
  io.field("description", s.description, any, "free text");
  io.field("framework", s.framework, any,
           "whose defaults hold where the scenario is silent: docs/frameworks.md");
  io.adopt(s.framework);
  io.part("model", s.model,
          "a name in models/, a path to a .yaml or to a Hugging Face config.json, or a map; {base: "
          "name, layers: 4} changes one");
  io.part("cluster", s.cluster,
          "a name in scenarios/clusters/, a path to a .yaml, or a map; {base: name, nodes: 128} "
          "changes one");
  io.section("training", s.training, "how it is trained");
  resolve_attention(s);
  io.section("parallelism", s.parallelism, "how it is split");
  if (io.framework()) size_buckets(s);
  io.section("collectives", s.collectives, "how ranks talk");
  io.section("data", s.data, input_defaults(s),
             "where samples come from; absent: input is never waited for");
  io.section("checkpoint", s.checkpoint, Checkpoint{},
             "the state of training, written every so many steps; absent: never");
  io.fallback(s.host.speed, s.cluster.cpu_speed.value_or(kUsualCpuSpeed), "");
  io.section("host", s.host, "the CPU that launches kernels");
  io.section("faults", s.faults, "what is not as it should be");
  io.section("reliability", s.reliability, Reliability{},
             "what interrupts a run of many days (run.horizon); absent: as Llama 3 405B was");
  io.section("cost", s.cost, Cost{}, "what the GPUs cost; absent: reports have no prices");
  io.section("energy", s.energy, "what the electricity of a run goes by: docs/energy.md");
  io.fallback(s.run, run_defaults(s), "");
  io.section("run", s.run, "what is simulated");
  resolve_horizon(s);
  io.expectations("expect", s.expect, "what the result must be, as in `step_time: \"<= 4.6 s\"`");
}

}  // namespace stepsim
