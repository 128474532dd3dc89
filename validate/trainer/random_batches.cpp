// Makes batches of numbers that are drawn once and then used again and again.
#include <algorithm>
#include <array>
#include <random>

#include "validate/trainer/batches.hpp"

namespace stepsim::trainer {
namespace {

class RandomBatches : public Batches {
 public:
  RandomBatches(const Shape& shape, int rank, int ranks) {
    const auto width = static_cast<std::size_t>(shape.width);
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      for (std::int64_t i = 0; i < shape.batch; ++i) {
        const std::int64_t sample =
            (static_cast<std::int64_t>(turn) * ranks + rank) * shape.batch + i;
        std::minstd_rand random(static_cast<unsigned>(sample + 1));
        random.discard(3);  // the first numbers of the generator are near its seed
        std::uniform_real_distribution<float> uniform(0, 1);
        for (std::size_t j = 0; j < width; ++j) inputs_[turn].push_back(uniform(random));
      }
      targets_[turn].resize(inputs_[turn].size());
      make_targets(inputs_[turn], targets_[turn], width);
    }
  }
  Batch next() override {
    turn_ = (turn_ + 1) % kTurns;
    return {inputs_[turn_], targets_[turn_]};
  }

 private:
  static constexpr std::size_t kTurns = 4;
  std::array<std::vector<float>, kTurns> inputs_, targets_;
  std::size_t turn_ = kTurns - 1;
};

}  // namespace

std::unique_ptr<Batches> random_batches(const Shape& shape, int rank, int ranks) {
  return std::make_unique<RandomBatches>(shape, rank, ranks);
}

void make_targets(std::span<const float> input, std::span<float> target, std::size_t width) {
  for (std::size_t begin = 0; begin < input.size(); begin += width) {
    const auto sample = input.subspan(begin, width);
    std::rotate_copy(sample.begin(), sample.begin() + 1, sample.end(),
                     target.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

}  // namespace stepsim::trainer
