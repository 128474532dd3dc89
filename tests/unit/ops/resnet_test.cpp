// ResNet: published parameters and FLOPs, the order of a block, what it keeps and moves.
#include <cmath>

#include "sim/core/error.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/image_layers.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

std::string resnet(const std::string& model, const std::string& training = "") {
  return "model: {" + model +
         "}\n"
         "cluster: {name: c, gpu: a100-80, gpus_per_node: 1}\n"
         "training: {global_batch: 2, micro_batch: 2, precision: fp16" +
         training + "}\n";
}

OpGraph graph_of(const std::string& yaml) { return build(scenario_of(yaml)); }

double memory_bytes(const Items& items, const std::string& part = "") {
  double sum = 0;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    if (launch == nullptr || launch->name.find(part) == std::string::npos) continue;
    if (const auto* moves = std::get_if<MemoryBound>(&launch->work)) sum += moves->bytes.bytes();
  }
  return sum;
}

int convolutions(const Items& items) {
  int count = 0;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    if (launch != nullptr && std::holds_alternative<Convolution>(launch->work)) ++count;
  }
  return count;
}

std::vector<std::string> names_of(const Block& block) {
  std::vector<std::string> names;
  for (const Op* op : block.order()) names.push_back(op->name);
  return names;
}

/// Multiply-adds of one image's forward pass.
double multiply_adds(const OpGraph& graph) {
  double flops = 0;
  for (const std::size_t index : graph.chain) {
    for (const Op* op : graph.blocks[index].order()) flops += op->flops.flops();
  }
  return flops / 2 / 2;  // two a multiply-add, two images
}

constexpr double kImages = 2, kFp16 = 2;

}  // namespace

TEST_CASE("ResNets have the parameters that torchvision publishes") {
  const Library library{{source_folder()}};
  for (const char* name :
       {"resnet50", "resnet101", "resnet152", "resnext50-32x4d", "resnext101-32x8d"}) {
    CAPTURE(name);
    const Model model = load_model(name, library);
    CHECK(parameter_count(model) == static_cast<double>(model.published_parameters));
    const OpGraph graph = graph_of(resnet(std::string("base: ") + name));
    double sum = 0;
    for (const std::size_t index : graph.chain) sum += graph.blocks[index].parameters();
    CHECK(sum == static_cast<double>(model.published_parameters));
  }
}

TEST_CASE("ResNets have the multiply-adds that torchvision publishes for an image of 224 pixels") {
  // torchvision/models/resnet.py, _ops of the weights, in GMAC.
  const auto billions = [](const std::string& name) {
    return multiply_adds(graph_of(resnet("base: " + name))) / 1e9;
  };
  CHECK(billions("resnet50") == doctest::Approx(4.089).epsilon(0.0005));
  CHECK(billions("resnet101") == doctest::Approx(7.801).epsilon(0.0005));
  CHECK(billions("resnet152") == doctest::Approx(11.514).epsilon(0.0005));
  CHECK(billions("resnext50-32x4d") == doctest::Approx(4.23).epsilon(0.001));
  CHECK(billions("resnext101-32x8d") == doctest::Approx(16.414).epsilon(0.0005));
}

TEST_CASE("twice the edge is four times the work of the convolutions, and no parameter more") {
  const OpGraph small = graph_of(resnet("base: resnet50"));
  const OpGraph large = graph_of(resnet("base: resnet50, image: 448"));
  const double fc = 2048 * 1000;
  CHECK(multiply_adds(large) - fc == nine_digits(4 * (multiply_adds(small) - fc)));
  CHECK(large.total_parameters == small.total_parameters);
}

TEST_CASE("other classes change the last layer alone") {
  const auto parameters = [](const std::string& classes) {
    return graph_of(resnet("base: resnet50, classes: " + classes)).total_parameters;
  };
  CHECK(parameters("1001") - parameters("1000") == 2049);
}

TEST_CASE("a step counts three forward passes of all images") {
  const OpGraph graph = graph_of(resnet("base: resnet50"));
  CHECK(graph.model_flops.flops() == nine_digits(3 * 2 * 2 * multiply_adds(graph)));
}

TEST_CASE("a stage is one widening block and equal ones behind it") {
  const OpGraph graph = graph_of(resnet("name: m, kind: resnet, blocks: [1, 3]"));
  std::vector<std::string> names;
  for (const std::size_t index : graph.chain) names.push_back(graph.blocks[index].name);
  CHECK(names == std::vector<std::string>{"stem", "stage 1 first", "stage 2 first", "stage 2",
                                          "stage 2", "head"});
  CHECK(names_of(graph.blocks[1]) == std::vector<std::string>{"conv1", "norm1", "conv2", "norm2",
                                                              "conv3", "norm3", "shortcut",
                                                              "shortcut norm"});
  CHECK(names_of(graph.blocks[3]) ==
        std::vector<std::string>{"conv1", "norm1", "conv2", "norm2", "conv3", "norm3"});
}

TEST_CASE("a convolution has three kernels, that of the image two") {
  const OpGraph graph = graph_of(resnet("base: resnet50"));
  const Op& image = *graph.blocks[0].order()[0];
  CHECK(convolutions(image.forward) == 1);
  CHECK(convolutions(image.backward) == 1);
  const Op& inner = *graph.blocks[1].order()[0];
  CHECK(convolutions(inner.forward) == 1);
  CHECK(convolutions(inner.backward) == 2);
}

TEST_CASE("a block keeps what each convolution and each norm read") {
  // An inner block of stage 1: 56 x 56 pixels, 256 channels around 64, 64 and 256.
  const OpGraph graph = graph_of(resnet("base: resnet50"));
  const double pixels = kImages * 56 * 56;
  const double convolution_inputs = kFp16 * pixels * (256 + 64 + 64);
  const double norm_inputs = kFp16 * pixels * (64 + 64 + 256);
  const double statistics = 2 * 4 * (64 + 64 + 256);
  CHECK(graph.blocks[2].name == "stage 1");
  CHECK(graph.blocks[2].saved(Recompute::none).bytes() ==
        convolution_inputs + norm_inputs + statistics);
  CHECK(graph.blocks[2].saved(Recompute::full).bytes() == kFp16 * pixels * 256);
}

TEST_CASE("batch norm passes over the images three times forward and five times backward") {
  const OpGraph graph = graph_of(resnet("base: resnet50"));
  const Op& norm = *graph.blocks[2].order()[1];
  const double one = kFp16 * kImages * 56 * 56 * 64;
  CHECK(memory_bytes(norm.forward) == 3 * one + 2 * one);  // three passes, and the ReLU in place
  // five, and the ReLU: its output and gradient in, one out
  CHECK(memory_bytes(norm.backward) == 5 * one + 3 * one);
  const Op& last = *graph.blocks[2].order()[5];
  CHECK(memory_bytes(last.forward, "addition") == 3 * 4 * one);
}

TEST_CASE("fused batch norm adds the residual on its way and keeps a bit an element") {
  const OpGraph fused = graph_of(resnet("base: resnet50, fused_norm: true"));
  const Op& last = *fused.blocks[2].order()[5];
  const double elements = kImages * 56 * 56 * 256;
  CHECK(memory_bytes(last.forward) == (3 + 1) * kFp16 * elements + elements / 8);
  CHECK(memory_bytes(last.backward) == (5 + 1) * kFp16 * elements + elements / 8);
  const OpGraph eager = graph_of(resnet("base: resnet50"));
  const double outputs = kImages * 56 * 56 * (64 + 64 + 256);
  CHECK(fused.blocks[2].saved(Recompute::none).bytes() ==
        eager.blocks[2].saved(Recompute::none).bytes() + outputs / 8);
}

TEST_CASE("norms that convolutions take in have no forward pass but the one with the addition") {
  const OpGraph fused = graph_of(resnet("base: resnet50, fused_norm: true"));
  const OpGraph taken =
      graph_of(resnet("base: resnet50, fused_norm: true, norms_in_convolutions: true"));
  const double pixels = kImages * 56 * 56;
  const double narrow = pixels * 64, wide = pixels * 256;
  const auto statistics = [](double channels) { return 12 * 4 * channels; };
  const auto ops = taken.blocks[2].order();  // conv1 norm1 conv2 norm2 conv3 norm3
  CHECK(memory_bytes(ops[1]->forward) == statistics(64));
  CHECK(memory_bytes(ops[3]->forward) == statistics(64));
  CHECK(memory_bytes(ops[1]->backward) == 5 * kFp16 * narrow);
  // The sums are known: image and residual are read once, the sum is written, with a bit each.
  CHECK(memory_bytes(ops[5]->forward) == 3 * kFp16 * wide + wide / 8 + statistics(256));
  CHECK(memory_bytes(ops[5]->backward) == (5 + 1) * kFp16 * wide + wide / 8);
  // The images between convolutions are not kept, nor are their bits.
  CHECK(taken.blocks[2].saved(Recompute::none).bytes() ==
        fused.blocks[2].saved(Recompute::none).bytes() - 2 * (kFp16 + 1.0 / 8) * narrow);
  // Where the shortcut has a norm of its own both are normalised with the addition.
  const auto first = taken.blocks[1].order();
  CHECK(memory_bytes(first[5]->forward) == statistics(256));
  CHECK(memory_bytes(first[7]->forward) == 3 * kFp16 * wide + wide / 8 + statistics(256));
  CHECK(memory_bytes(taken.blocks[0].order()[1]->forward) ==
        memory_bytes(fused.blocks[0].order()[1]->forward));
}

TEST_CASE("layout nchw transposes input and output of each kernel on tensor cores") {
  const OpGraph graph = graph_of(resnet("base: resnet50, layout: nchw"));
  const Op& conv = *graph.blocks[2].order()[0];  // 256 to 64 channels
  const double images = kFp16 * kImages * 56 * 56 * (256 + 64);
  CHECK(memory_bytes(conv.forward, "transposes") == 2 * images);
  CHECK(memory_bytes(conv.backward, "transposes") == 2 * 2 * images);
  // The convolution of an image pads its three channels to four on the way.
  const double read = kImages * 224 * 224 * 3, padded = kImages * 224 * 224 * 4;
  const double out = kImages * 112 * 112 * 64;
  const Op& stem = *graph.blocks[0].order()[0];
  CHECK(memory_bytes(stem.forward) == kFp16 * (read + padded + 2 * out));
  CHECK(stem.scratch.bytes() == kFp16 * (padded + out));
  // fp32 stays off the tensor cores.
  Scenario single = scenario_of(resnet("base: resnet50, layout: nchw"));
  single.training.precision = Precision::fp32;
  CHECK(memory_bytes(build(single).blocks[2].order()[0]->forward, "transposes") == 0);
}

TEST_CASE("images of three channels are padded before each kernel in fp16, those of four never") {
  const auto stem = [](const std::string& model, Precision precision) {
    Scenario scenario = scenario_of(resnet("base: resnet50" + model));
    scenario.training.precision = precision;
    return build(scenario).blocks[0].dag.ops[0];
  };
  const double moved = kImages * 224 * 224 * (3 + 4);
  const Op three = stem("", Precision::fp16);
  CHECK(memory_bytes(three.forward, "padding") == kFp16 * moved);
  CHECK(memory_bytes(three.backward, "padding") == kFp16 * moved);
  CHECK(memory_bytes(stem(", channels: 4", Precision::fp16).forward) == 0);
  CHECK(memory_bytes(stem("", Precision::tf32).forward) == 0);
  CHECK(memory_bytes(stem("", Precision::fp32).forward) == 0);
  CHECK(three.flops.flops() == 2 * kImages * 112 * 112 * 64 * 3 * 49);  // padding is no work
}

TEST_CASE("full recompute of a ResNet repeats its blocks, not stem and head") {
  const OpGraph graph = graph_of(resnet("base: resnet50", ", recompute: full"));
  double repeated = 0;
  for (const std::size_t index : graph.chain) {
    if (!graph.blocks[index].recomputable) continue;
    for (const Op* op : graph.blocks[index].order()) repeated += op->flops.flops();
  }
  double counted = 0;
  for (const std::size_t index : graph.chain)
    counted += graph.blocks[index].repeated(Recompute::full).products.flops();
  CHECK(counted == nine_digits(repeated));
}

TEST_CASE("a gradient of every parameter tensor is ready once") {
  const OpGraph graph = graph_of(resnet("base: resnet152"));
  double ready = 0;
  for (const std::size_t index : graph.chain) {
    for (const Op* op : graph.blocks[index].order()) {
      for (const Item& item : op->backward) {
        if (const auto* gradient = std::get_if<GradientReady>(&item)) ready += gradient->elements;
      }
    }
  }
  CHECK(ready == 60'192'808);
}

TEST_CASE("gradients that are kept are added to, tensor by tensor") {
  const auto sums = [](const std::string& training) {
    std::pair<int, double> found{0, 0};
    const OpGraph graph = graph_of(resnet("base: resnet50", training));
    for (const std::size_t index : graph.chain) {
      for (const Op* op : graph.blocks[index].order()) {
        found.second += memory_bytes(op->backward, "gradient sum");
        for (const Item& item : op->backward) {
          const auto* launch = std::get_if<Launch>(&item);
          found.first += launch != nullptr && launch->name.ends_with("gradient sum");
        }
      }
    }
    return found;
  };
  const std::string apart = ", fused_accumulation: false, used_gradients: ";
  // 53 convolutions, 53 norms of two tensors each, the last layer's weight; two sequences are one
  // micro-batch.
  for (const char* used : {"keep", "clear_tensors"}) {
    const auto [kernels, bytes] = sums(apart + used);
    CHECK(kernels == 53 + 2 * 53 + 1);
    CHECK(bytes == 3 * 2 * (25'557'032.0 - 1000));  // all parameters but the last bias
  }
  CHECK(sums(apart + "free").first == 0);
  CHECK(sums(apart + "clear_buffer").first == 0);
  CHECK(sums("").first == 0);
}

TEST_CASE("a ResNet in fp8 is refused") {
  std::string message;
  try {
    scenario_of(
        "model: resnet50\ncluster: {name: c, gpu: h100, gpus_per_node: 1}\n"
        "training: {global_batch: 2, precision: fp8}\n");
  } catch (const UserError& error) {
    message = error.what();
  }
  CHECK(message.find("convolutions in fp8 are not modelled") != std::string::npos);
}
