// Recommendation: what tables on several ranks cost, with pencil and paper.
//
// N ranks, b samples each, T tables of d numbers a row, P rows looked up a table and sample, e
// bytes an element. By table the busiest rank has t = ceil(T/N) tables: it reads N b t P rows and
// sends vectors of N b t d e bytes, once forward and once backward for their gradients. By row each
// rank reads N b T P / N rows of N b T sums, which are reduced and scattered, and gathered
// backward: N b T d e bytes in nccl-tests sizes.
//
// With the bottom MLP on the first rank alone, tables are on the N - 1 others: t = ceil(T/(N-1)),
// or on all of at most four ranks, of which the first sends one vector more. Nothing hides the
// exchange.
#include <cmath>
#include <stdexcept>

#include "sim/cluster/kernel_time.hpp"
#include "sim/ops/blocks.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double N = 8, b = 512, d = 128, e = 2, tables = 26, P = 3;

std::string dlrm(const std::string& parallelism = "", const std::string& cluster = "",
                 const std::string& model = "") {
  return "model: {base: dlrm-criteo-1tb, pooling: 3" + model +
         "}\n"
         "cluster: " +
         (cluster.empty() ? std::string("{base: dgx-a100-80}") : cluster) +
         "\n"
         "training: {global_batch: 4096, micro_batch: 512, precision: fp16, optimizer: sgd,\n"
         "           gradient_clipping: false}\n"
         "host: {launch: 1 us}\n"  // short enough that the exchange does not wait for launches
         "parallelism: {" +
         parallelism + "}\n";
}

const Launch& kernel(const Op& op, const std::string& name) {
  for (const Items* items : {&op.forward, &op.backward}) {
    for (const Item& item : *items) {
      const auto* launch = std::get_if<Launch>(&item);
      if (launch != nullptr && launch->name == name) return *launch;
    }
  }
  throw std::runtime_error("no kernel " + name);
}

double moved(const Op& op, const std::string& name) {
  return std::get<MemoryBound>(kernel(op, name).work).bytes.bytes();
}

std::vector<StartCollective> exchanges(const OpGraph& graph) {
  std::vector<StartCollective> starts;
  for (const bool forward : {true, false}) {
    for (const Block& block : graph.blocks) {
      for (const Op* op : block.order()) {
        for (const Item& item : forward ? op->forward : op->backward) {
          if (const auto* start = std::get_if<StartCollective>(&item)) starts.push_back(*start);
        }
      }
    }
  }
  return starts;
}

const Op& lookup(const OpGraph& graph) { return *graph.blocks.front().order().front(); }

double category(const StageMemory& memory, const std::string& name) {
  for (const MemoryCategory& c : memory.categories) {
    if (c.name == name) return c.bytes.bytes();
  }
  return 0;
}

const GroupCommunication& group(const Metrics& metrics, const std::string& name) {
  for (const GroupCommunication& g : metrics.communication) {
    if (name_of(g.axis) == name) return g;
  }
  throw std::runtime_error("no group " + name);
}

}  // namespace

TEST_CASE("the vectors of tables are exchanged once forward and once backward") {
  const OpGraph graph = build(scenario_of(dlrm()));
  const auto starts = exchanges(graph);
  REQUIRE(starts.size() == 2);
  for (const StartCollective& start : starts) {
    CHECK(start.op == CollectiveOp::all_to_all);
    CHECK(start.axis == Axis::tables);
    CHECK(start.bytes.bytes() == N * b * std::ceil(tables / N) * d * e);
  }
}

TEST_CASE("sums of tables split by rows are scattered, and their gradients gathered") {
  const OpGraph graph = build(scenario_of(dlrm("embedding: row")));
  const auto starts = exchanges(graph);
  REQUIRE(starts.size() == 2);
  CHECK(starts[0].op == CollectiveOp::reduce_scatter);
  CHECK(starts[1].op == CollectiveOp::all_gather);
  for (const StartCollective& start : starts) CHECK(start.bytes.bytes() == N * b * tables * d * e);
}

TEST_CASE("the busiest rank reads the rows of its tables for the samples of all ranks") {
  const double row = 4 * d, index = 8;  // fp32
  const OpGraph by_table = build(scenario_of(dlrm()));
  const double vectors = N * b * 4, lookups = vectors * P;
  CHECK(moved(lookup(by_table), "embedding lookup") == lookups * (row + index) + vectors * d * e);
  CHECK(moved(lookup(by_table), "embedding update") ==
        lookups * (2 * row + index) + vectors * d * e);
  const OpGraph by_row = build(scenario_of(dlrm("embedding: row")));
  CHECK(moved(lookup(by_row), "embedding lookup") ==
        nine_digits(b * tables * P * (row + index) + N * b * tables * d * e));
}

TEST_CASE("sparse gradients are written, scaled back in fp16, and added to rows") {
  const OpGraph graph = build(scenario_of(dlrm("", "", ", sparse_gradients: true")));
  const double row = 4 * d, index = 8;  // fp32
  const double vectors = N * b * 4, lookups = vectors * P;
  CHECK(moved(lookup(graph), "embedding gradient") == vectors * d * e + lookups * row);
  CHECK(moved(lookup(graph), "unscale embedding gradient") == 2 * lookups * row);
  CHECK(moved(lookup(graph), "embedding update") == lookups * (3 * row + index));
}

TEST_CASE("a fused interaction reads its vectors once forward, and writes their gradients") {
  const auto bytes = [](const char* model, bool backward) {
    const OpGraph graph = build(scenario_of(dlrm("", "", model)));
    const Op& op = *graph.blocks.at(2).order().front();
    double sum = 0;
    for (const Item& item : backward ? op.backward : op.forward) {
      const auto* launch = std::get_if<Launch>(&item);
      const auto* moves = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
      if (moves != nullptr) sum += moves->bytes.bytes();
    }
    return sum;
  };
  const double vectors = b * (tables + 1) * d * e;
  const double out = b * (d + (tables + 1) * tables / 2) * e;
  const char* fused = ", fused_interaction: true";
  // Without the fused kernel the vectors are joined and split besides.
  CHECK(bytes(fused, false) == 3 * vectors + out);
  CHECK(bytes(fused, true) == 4 * vectors + out + b * d * e + 3 * b * d * e);
}

TEST_CASE("one rank exchanges nothing") {
  const OpGraph graph = build(
      scenario_of("model: dlrm-criteo-1tb\ncluster: {name: c, gpu: a100-80, gpus_per_node: 1}\n"
                  "training: {global_batch: 512, micro_batch: 512, precision: fp16}\n"));
  CHECK(exchanges(graph).empty());
  for (const Block& block : graph.blocks) {
    for (const Op* op : block.order()) {
      for (const Items* items : {&op->forward, &op->backward}) {
        for (const Item& item : *items) CHECK_FALSE(std::holds_alternative<Join>(item));
      }
    }
  }
}

TEST_CASE("a step reports the exchange as one group, in the bytes of both directions") {
  const Metrics metrics = Experiment(dlrm()).metrics();
  CHECK(group(metrics, "tables").bytes.bytes() == nine_digits(2 * N * b * 4 * d * e));
  CHECK_FALSE(metrics.has_tokens);
  CHECK(metrics.samples_per_s == nine_digits(4096 / metrics.step_time.seconds()));
}

TEST_CASE(
    "an exchange on an idle node takes its curve's time, and is exposed as far as no MLP hides "
    "it") {
  const Experiment experiment(dlrm());
  const Scenario& s = experiment.scenario;
  const double one = uncontended(collective({CollectiveOp::all_to_all, Bytes{N * b * 4 * d * e}},
                                            {8, 1, 0}, s.cluster, s.collectives))
                         .seconds();
  const Metrics metrics = experiment.metrics();
  const GroupCommunication& g = group(metrics, "tables");
  CHECK(g.busy.seconds() == nine_digits(2 * one));
  CHECK(g.exposed.seconds() > 0);
  CHECK(g.exposed.seconds() < 2 * one);
  CHECK(g.exposed.seconds() + g.hidden.seconds() == doctest::Approx(2 * one).epsilon(1e-6));
}

TEST_CASE("a rank holds its tables beside the MLPs, and no gradients of them") {
  // By rows 1/N of 187,767,399 rows; by tables the fullest rank has one of the largest tables, of
  // 39,979,771 rows, and the greedy dealing adds small ones.
  const auto embeddings = [](const std::string& split) {
    const Scenario s = scenario_of(dlrm(split));
    return category(memory_of_stage(s, build(s), 0), "embeddings");
  };
  CHECK(embeddings("embedding: row") == nine_digits(187'767'399.0 / 8 * d * 4));
  CHECK(embeddings("") >= 39'979'771.0 * d * 4);
  CHECK(embeddings("") < 39'979'771.0 * d * 4 * 1.001);
  const Scenario s = scenario_of(dlrm());
  const double mlps = 171'392 + 2'197'505;
  CHECK(category(memory_of_stage(s, build(s), 0), "gradients") == mlps * 2);
}

TEST_CASE("the MLPs alone are reduced over all ranks") {
  const Experiment experiment(dlrm());
  double reduced = 0;
  for (const Operation* operation : data_operations(experiment.plan))
    reduced += operation->bytes.bytes();
  CHECK(reduced == (171'392 + 2'197'505) * 2);
}

namespace {

const std::string kFirst = "bottom_mlp: first";

/// What a program computes in a step.
double computed(const Experiment& experiment, int rank) {
  double sum = 0;
  const Program& program = experiment.plan.program(rank);
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::chain && task.step == 1)
      sum += experiment.plan.chains[task.work].compute;
  }
  return sum;
}

}  // namespace

TEST_CASE("with the bottom MLP on one rank the others' tables are more, and all is exchanged") {
  for (const double ranks : {4.0, 8.0}) {
    const OpGraph graph = build(
        scenario_of("model: dlrm-criteo-1tb\n"
                    "cluster: {base: dgx-a100-80, gpus_per_node: " +
                    std::to_string(static_cast<int>(ranks)) +
                    "}\ntraining: {global_batch: " + std::to_string(static_cast<int>(512 * ranks)) +
                    ", micro_batch: 512, precision: fp16}\nparallelism: {bottom_mlp: first}\n"));
    const double holders = ranks > 4 ? ranks - 1 : ranks;
    const double vectors = std::ceil(tables / holders) + (ranks > 4 ? 0 : 1);
    for (const bool first : {false, true}) {
      const OpGraph own = first ? graph_of_first(graph) : graph;
      double exchanged = 0;
      for (const std::size_t index : own.chain) {
        OpGraph block;
        block.blocks = {own.blocks[index]};
        for (const StartCollective& start : exchanges(block)) exchanged += start.bytes.bytes();
      }
      CHECK(exchanged == 2 * ranks * b * vectors * d * e);
    }
  }
}

TEST_CASE("an exchange behind the bottom MLP is not hidden, and only the top MLP is reduced") {
  const Experiment experiment(dlrm(kFirst));
  CHECK(group(experiment.metrics(), "tables").hidden.seconds() == 0);
  double reduced = 0;
  for (const Operation* operation : data_operations(experiment.plan))
    reduced += operation->bytes.bytes();
  CHECK(reduced == 2'197'505 * 2);
}

TEST_CASE("where the first rank's MLP is what takes longest, a step is its kernels and exchanges") {
  const Experiment experiment(
      dlrm(kFirst, "", ", bottom: [8192, 8192, 128], sparse_gradients: true") +
      "run: {steps: 1, warmup: 1}\n");
  const Scenario& s = experiment.scenario;
  const double one = uncontended(collective({CollectiveOp::all_to_all, Bytes{N * b * 4 * d * e}},
                                            {8, 1, 0}, s.cluster, s.collectives))
                         .seconds();
  CHECK(computed(experiment, 0) > 2 * computed(experiment, 1));
  CHECK(experiment.metrics().step_time.seconds() ==
        doctest::Approx(computed(experiment, 0) + 2 * one).epsilon(0.02));
}

TEST_CASE("rows that another kernel casts are written in the tables' type before") {
  const OpGraph graph =
      build(scenario_of(dlrm("", "", ", fused_lookup: false, sparse_gradients: true")));
  const double row = 4 * d, index = 8;  // fp32
  const double vectors = N * b * 4, lookups = vectors * P;
  CHECK(moved(lookup(graph), "embedding lookup") == lookups * (row + index) + vectors * row);
  CHECK(moved(lookup(graph), "cast of vectors") == vectors * (row + d * e));
  const OpGraph updated = build(scenario_of(dlrm("", "", ", fused_lookup: false")));
  CHECK(moved(lookup(updated), "cast of gradients") == vectors * (row + d * e));
  CHECK(moved(lookup(updated), "embedding update") == vectors * row + lookups * (2 * row + index));
}

TEST_CASE("a gradient that is a row in the tables' type is not copied by PyTorch") {
  const auto launches = [](const char* more) {
    const OpGraph graph = build(
        scenario_of(std::string("model: {base: dlrm-criteo-1tb, sparse_gradients: true") + more +
                    "}\ncluster: {base: dgx-a100-80}\n"
                    "training: {global_batch: 4096, micro_batch: 512, precision: tf32}\n"));
    std::size_t count = 0;
    for (const Item& item : lookup(graph).backward) count += std::holds_alternative<Launch>(item);
    return count;
  };
  CHECK(launches("") == 2);
  CHECK(launches(", fused_lookup: false") == 1);
}

TEST_CASE("in fp32 a fused interaction takes as long as shared memory feeds its products") {
  const Scenario s = scenario_of(
      "model: {base: dlrm-criteo-1tb, fused_interaction: true}\ncluster: {base: dgx-1v}\n"
      "training: {global_batch: 65536, micro_batch: 8192, precision: fp32}\n");
  const OpGraph graph = build(s);
  const Op& op = *graph.blocks.at(2).order().front();
  // A pair of 27 vectors: 128 multiply-adds. 80 SMs of 64 lanes at their peak.
  const double pairs = 8192 * 27 * 26 / 2.0 * 128;
  const double peak = peak_rate(s.cluster.gpu, Precision::fp32).flops_per_second();
  const auto products = [&](const char* name) {
    const auto& work = std::get<MemoryBound>(kernel(op, name).work);
    CHECK(kernel_time(work, s.cluster.gpu).seconds() >= (work.products.flops() / peak / work.fed));
    return work.products.flops() / work.fed;
  };
  CHECK(products("interaction") == nine_digits(2 * pairs * 36 / 2));
  CHECK(products("interaction backward") == nine_digits(4 * pairs * 2 / 0.5));
}
