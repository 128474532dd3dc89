// A small training program, to be compared with a simulation of it: prints a row of CSV.
//
//   stepsim-train --layers 8 --width 1024 --batch 64
//   mpirun -n 2 stepsim-train --layers 8 --width 1024 --batch 64 --bucket 8388608
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/core/quantile.hpp"
#include "validate/trainer/train.hpp"

namespace stepsim::trainer {
namespace {

constexpr int kWrong = 1, kBadInput = 2, kNoDevice = 3, kFailed = 70;

struct Wishes {
  Setting setting;
  Pictures pictures;
  std::string picture_size;
};

void declare(CLI::App& app, Wishes& wishes) {
  Setting& s = wishes.setting;
  const auto count = CLI::Range(1, 1 << 20);
  app.add_option("--layers", s.shape.layers, "linear layers, each with an activation")
      ->check(count);
  app.add_option("--width", s.shape.width, "of all layers")->check(count);
  app.add_option("--batch", s.shape.batch, "samples a rank and step")->check(count);
  app.add_option("--bucket", s.bucket_bytes, "bytes of a gradient bucket")
      ->check([](const std::string& text) {
        char* end = nullptr;
        const double bytes = std::strtod(text.c_str(), &end);
        const bool right = end != text.c_str() && *end == 0 && std::isfinite(bytes) && bytes > 0;
        return right ? "" : "'" + text + "' is not a number of bytes";
      });
  app.add_option("--steps", s.steps, "that are measured")->check(count);
  app.add_option("--warmup", s.warmup, "steps before them")->check(CLI::Range(0, 1 << 20));
  app.add_option("--pictures", wishes.picture_size,
                 "train on JPEG files of that many pixels, like 320x240");
  app.add_option("--workers", wishes.pictures.workers,
                 "threads that read and decode them; 0: the loop itself")
      ->check(CLI::Range(0, 1024));
  app.add_option("--prefetch", wishes.pictures.prefetch, "batches in flight a worker")
      ->check(CLI::Range(1, 1024));
}

void read_picture_size(Wishes& wishes) {
  Pictures& p = wishes.pictures;
  char times = 0, more = 0;
  std::istringstream text(wishes.picture_size);
  const bool right = text >> p.width >> times >> p.height && times == 'x' && !(text >> more) &&
                     std::clamp(p.width, 1, 10000) == p.width &&
                     std::clamp(p.height, 1, 10000) == p.height;
  if (!right)
    throw CLI::ValidationError("--pictures", "'" + wishes.picture_size + "' is not like 320x240");
}

/// The bytes of a model on its device: weights, gradients and Adam's moments; activations, the
/// target, and what the backward pass works on.
double model_bytes(const Shape& shape) {
  const auto layers = static_cast<double>(shape.layers), width = static_cast<double>(shape.width);
  const double tensor = static_cast<double>(shape.batch) * width;
  return sizeof(float) * (4 * layers * width * width + (2 * layers + 1 + 4) * tensor);
}

/// The bytes in the host's memory: a copy of the weights, when they are drawn and compared; and
/// batches, of which random ones have a target each, and pictures one for all.
double host_bytes(const Wishes& wishes) {
  const Shape& shape = wishes.setting.shape;
  const Pictures& p = wishes.pictures;
  const auto layers = static_cast<double>(shape.layers), width = static_cast<double>(shape.width);
  const double tensor = static_cast<double>(shape.batch) * width;
  const double tensors =
      wishes.picture_size.empty() ? 2 * 4 : static_cast<double>(p.workers) * p.prefetch + 2;
  return sizeof(float) * (layers * width * width + tensors * tensor);
}

void check_memory(const Wishes& wishes, const Device& device) {
  const double wanted = model_bytes(wishes.setting.shape) + device.bytes_beside(host_bytes(wishes));
  const double memory = device.free_bytes(), gib = 0x1p30;
  if (memory > 0 && wanted > memory)
    throw Refusal(fmt::format(
        "--layers, --width, --batch: they need {:.3g} GiB a rank, there are {:.3g}; try fewer or "
        "smaller",
        wanted / gib, memory / gib));
}

void check_setting(const Wishes& wishes) {
  const Setting& s = wishes.setting;
#ifndef STEPSIM_PICTURES
  if (!wishes.picture_size.empty())
    throw CLI::ValidationError("--pictures", "this program was built without libturbojpeg");
#endif
  if (s.steps + s.warmup < 2)
    throw CLI::ValidationError("--steps", "a loss cannot fall in one step: more, or some --warmup");
  if (!wishes.picture_size.empty() && s.steps < wishes.pictures.workers)
    throw CLI::ValidationError(
        "--steps", fmt::format("{} workers need as many steps at least", wishes.pictures.workers));
}

std::unique_ptr<Batches> batches_for(const Wishes& wishes, const cpu::Ranks& ranks) {
  if (wishes.picture_size.empty())
    return random_batches(wishes.setting.shape, ranks.rank(), ranks.size());
#ifdef STEPSIM_PICTURES
  Pictures pictures = wishes.pictures;
  pictures.steps = wishes.setting.warmup + wishes.setting.steps;
  return picture_batches(wishes.setting.shape, pictures, ranks.rank());
#else
  throw std::logic_error("check_setting refuses pictures");
#endif
}

/// Sorted means over as many steps in a row as there are workers. Workers hand over a batch each,
/// then the next one each, so that the time of a single step is no worker's.
std::vector<double> step_times(const std::vector<double>& steps, int workers) {
  const auto row = static_cast<std::size_t>(std::max(workers, 1));
  std::vector<double> means;
  for (std::size_t begin = 0; begin + row <= steps.size(); begin += row) {
    const auto first = steps.begin() + static_cast<std::ptrdiff_t>(begin);
    means.push_back(std::accumulate(first, first + static_cast<std::ptrdiff_t>(row), 0.0) /
                    static_cast<double>(row));
  }
  std::sort(means.begin(), means.end());
  return means;
}

void print(const Wishes& wishes, const cpu::Ranks& ranks, const Outcome& o) {
  const Setting& s = wishes.setting;
  const bool loads = !wishes.picture_size.empty();
  fmt::print(
      "ranks,layers,width,batch,bucket_bytes,pictures,workers,prefetch,steps,first_loss,last_loss,"
      "wall_p10_s,wall_median_s,wall_p90_s,undisturbed_p10_s,undisturbed_median_s,"
      "undisturbed_p90_s\n");
  fmt::print("{},{},{},{},{:.0f},{},{},{},{},{:.6g},{:.6g}", ranks.size(), s.shape.layers,
             s.shape.width, s.shape.batch, s.bucket_bytes, wishes.picture_size,
             loads ? wishes.pictures.workers : 0, loads ? wishes.pictures.prefetch : 0, s.steps,
             o.first_loss, o.last_loss);
  for (const auto* times : {&o.wall, &o.undisturbed})
    for (const double share : {0.1, 0.5, 0.9})
      fmt::print(",{:.6g}", interpolated_quantile(
                                step_times(*times, loads ? wishes.pictures.workers : 0), share));
  fmt::print("\n");
}

/// What went wrong in training itself; empty where nothing did.
std::string fault_of(const Outcome& outcome) {
  if (!outcome.agree) return "the ranks have different weights";
  if (!(outcome.last_loss < outcome.first_loss))
    return fmt::format("the loss did not fall: {} at first, {} at last", outcome.first_loss,
                       outcome.last_loss);
  return "";
}

int train_and_print(const Wishes& wishes, const cpu::Ranks& ranks) {
  const auto device = make_device(ranks);
  check_memory(wishes, *device);
  const auto batches = batches_for(wishes, ranks);
  const Outcome outcome = train(wishes.setting, ranks, *device, *batches);
  if (ranks.rank() == 0) print(wishes, ranks, outcome);
  const std::string fault = fault_of(outcome);
  if (!fault.empty() && ranks.rank() == 0) std::cerr << kProgramName << ": " << fault << "\n";
  return fault.empty() ? 0 : kWrong;
}

/// Trains, on every rank. A rank that cannot go on says why before it ends the others.
int run(const Wishes& wishes, int argc, char** argv) {
  const cpu::Ranks ranks(argc, argv);
  const auto give_up = [&](const std::exception& error, int code) {
    // in one piece, because all ranks write
    std::cerr << fmt::format("{}: {}\n", kProgramName, error.what());
    ranks.give_up(code);
    return code;
  };
  try {
    return train_and_print(wishes, ranks);
  } catch (const Refusal& refusal) {
    return give_up(refusal, kBadInput);
  } catch (const std::exception& error) {
    return give_up(error, kFailed);
  }
}

int answer(int argc, char** argv) {
  CLI::App app(
      fmt::format("Trains a stack of linear layers on a {} and measures its steps.", kDeviceName),
      kProgramName);
  Wishes wishes;
  declare(app, wishes);
  try {
    app.parse(argc, argv);
    if (!wishes.picture_size.empty()) read_picture_size(wishes);
    if (const std::string reason = why_no_device(); !reason.empty()) {
      std::cerr << kProgramName << ": nothing to train on: " << reason << "\n";
      return kNoDevice;
    }
    check_setting(wishes);
    return run(wishes, argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  }
}

}  // namespace
}  // namespace stepsim::trainer

int main(int argc, char** argv) {
  try {
    return stepsim::trainer::answer(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << stepsim::trainer::kProgramName << ": " << error.what() << "\n";
    return stepsim::trainer::kFailed;
  }
}
