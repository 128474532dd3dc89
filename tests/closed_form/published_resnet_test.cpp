// Published throughputs of ResNet-50 v1.5 on one GPU: NVIDIA/DeepLearningExamples@729963d
// PyTorch/Classification/ConvNets/resnet50v1.5/README.md, "Training performance results".
//
// One GPU asks for few enough images that its loader may keep up; eight in fp16 do not
// (docs/accuracy/vision.md). 256 images in fp16 and TF32, 128 in fp32; fp16 with channels last.
#include <cmath>

#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

struct Published {
  const char* cluster;
  const char* precision;
  const char* layout;
  int images;
  double per_second;
};

constexpr Published kRows[] = {
    {"dgx-1v", "fp16", "nhwc", 256, 1200},      {"dgx-1v", "fp16", "nhwc", 256, 1156},
    {"dgx-1v", "fp32", "nchw", 128, 367},       {"dgx-1v", "fp32", "nchw", 128, 356},
    {"dgx-a100-80", "fp16", "nhwc", 256, 2470}, {"dgx-a100-80", "tf32", "nchw", 256, 938}};

double images_per_second(const Published& row) {
  Scenario s = load_scenario(std::string(source_folder()) + "/scenarios/resnet50-8xv100.yaml",
                             {{"cluster", row.cluster},
                              {"cluster.gpus_per_node", "1"},
                              {"training.micro_batch", std::to_string(row.images)},
                              {"training.global_batch", std::to_string(row.images)},
                              {"training.precision", row.precision},
                              {"model.layout", row.layout}});
  return Experiment(std::move(s)).metrics().samples_per_s;
}

}  // namespace

TEST_CASE("ResNet-50 on one GPU is met within 10 %, and within 5 % on average") {
  double sum = 0;
  for (const Published& row : kRows) {
    CAPTURE(row.cluster);
    CAPTURE(row.precision);
    const double error = row.per_second / images_per_second(row) - 1;  // relative error of the step
    CAPTURE(error);
    CHECK(std::abs(error) <= 0.10);
    sum += std::abs(error);
  }
  const double mean = sum / static_cast<double>(std::size(kRows));
  MESSAGE("mean error over " << std::size(kRows) << " rows: " << 100 * mean << " %");
  CHECK(mean <= 0.05);
}
