// Tests that the trainer learns, that its gradients are derivatives, and that ranks together do
// what one does alone.
#include <cstdlib>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "validate/trainer/batches.hpp"
#include "validate/trainer/mlp.hpp"
#include "validate/trainer/selfcheck/programs.hpp"
#include "validate/trainer/train.hpp"

using namespace stepsim;
using selfcheck::cell;
using selfcheck::output_of;
using trainer::Shape;

namespace {

std::string train_with(const std::string& options, int ranks) {
  const std::string mpirun = ranks == 1
                                 ? ""
                                 : fmt::format(
                                       "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                                       "timeout 120 mpirun --oversubscribe --bind-to none -n {} ",
                                       ranks);
  return output_of(mpirun + STEPSIM_TRAINER + " --layers 3 --width 48 " + options);
}

void nothing() {}

/// The device of this process, whose memory is the host's.
std::unique_ptr<trainer::Device> lone_device() {
  int argc = 0;
  char** argv = nullptr;
  static const cpu::Ranks ranks(argc, argv);
  return trainer::make_device(ranks);
}

double loss_of(trainer::Mlp& model, const trainer::Batch& batch) {
  model.forward(batch.input, batch.target);
  return model.loss();
}

}  // namespace

TEST_CASE("the gradient of a weight is the slope of the loss") {
  const auto device = lone_device();
  const Shape shape{.layers = 3, .width = 8, .batch = 5};
  trainer::Mlp model(*device, shape, 7);
  const auto batches = trainer::random_batches(shape, 0, 1);
  const trainer::Batch batch = batches->next();
  model.forward(batch.input, batch.target);
  model.backward([](std::span<float>) {}, nothing);
  int steep = 0;
  for (std::size_t i = 0; i < model.weights().size(); i += 3) {
    constexpr float kAside = 1e-2F;
    float& weight = model.weights()[i];
    const float before = weight;
    weight = before + kAside;
    const double above = loss_of(model, batch);
    weight = before - kAside;
    const double below = loss_of(model, batch);
    weight = before;
    const double slope = (above - below) / (2 * static_cast<double>(kAside));
    CAPTURE(i);
    CHECK(static_cast<double>(model.gradients()[i]) ==
          doctest::Approx(slope).epsilon(0.03).scale(0.2));
    if (std::abs(slope) > 0.01) ++steep;
  }
  CHECK(steep > 5);
}

TEST_CASE("gradients are complete from the last layer to the first, and zero after an update") {
  const auto device = lone_device();
  const Shape shape{.layers = 3, .width = 8, .batch = 5};
  trainer::Mlp model(*device, shape, 7);
  const auto batches = trainer::random_batches(shape, 0, 1);
  const trainer::Batch batch = batches->next();
  model.forward(batch.input, batch.target);
  const float* expected = model.gradients().data();
  int layers = 0;
  model.backward(
      [&](std::span<float> gradients) {
        CHECK(gradients.data() == expected);
        CHECK(gradients.size() == 64);
        expected += gradients.size();
        ++layers;
      },
      nothing);
  CHECK(layers == 3);
  model.update(1e-3F);
  for (const float gradient : model.gradients()) CHECK(gradient == 0);
}

TEST_CASE("settings that cannot be trained are refused with the reason") {
  const auto refusal = [](const std::string& options) {
    return output_of(fmt::format("{} {} 2>&1; test $? = 2", STEPSIM_TRAINER, options));
  };
  CHECK(refusal("--bucket nan").find("'nan' is not a number of bytes") != std::string::npos);
  CHECK(refusal("--bucket 4MB").find("'4MB' is not a number of bytes") != std::string::npos);
  CHECK(refusal("--width 1000000 --layers 1000000").find("there are") != std::string::npos);
  CHECK(refusal("--steps 1 --warmup 0").find("cannot fall in one step") != std::string::npos);
}

TEST_CASE("training lowers the loss to a tenth") {
  const std::string csv = train_with("--batch 16 --steps 1500", 1);
  CHECK(cell(csv, "last_loss") < 0.1 * cell(csv, "first_loss"));
  CHECK(cell(csv, "undisturbed_p10_s") <= cell(csv, "wall_p90_s"));
}

TEST_CASE("two ranks with half the batch, in small buckets, learn what one rank learns") {
  const std::string one = train_with("--batch 16 --steps 40", 1);
  const std::string two = train_with("--batch 8 --steps 40 --bucket 10000", 2);
  CHECK(cell(two, "ranks") == 2);
  CHECK(cell(two, "first_loss") == doctest::Approx(cell(one, "first_loss")).epsilon(1e-5));
  CHECK(cell(two, "last_loss") == doctest::Approx(cell(one, "last_loss")).epsilon(1e-3));
}

TEST_CASE("pictures that workers decode are learned, too") {
  const std::string command =
      std::string(STEPSIM_TRAINER) + " --pictures 2x2 --steps 1 2>&1 || true";
  if (output_of(command).find("built without") != std::string::npos) return;
  for (const int workers : {0, 1, 3}) {
    const std::string csv =
        train_with(fmt::format("--batch 4 --steps 200 --pictures 64x48 --workers {}", workers), 1);
    CHECK(cell(csv, "workers") == workers);
    CHECK(cell(csv, "last_loss") < 0.5 * cell(csv, "first_loss"));
  }
}
