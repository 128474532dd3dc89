// Memory that measurements work on: one vector, cut anew into sets of operands for each of them.
#include "calib/cpu/arena.hpp"

#include <algorithm>

#include "calib/harness/not_offered.hpp"

namespace stepsim::cpu {
namespace {

/// The arena has so many times the size of the cache. Judgement: when a set has its turn again, all
/// of a cache has been replaced, even where it does not replace the oldest first.
constexpr std::int64_t kTimesCache = 3;
/// The least and the most bytes of an arena. The largest measurement has 64 MiB. Judgement: each of
/// several ranks takes up to kMost, which small machines still have; a larger cache stays warm in
/// part.
constexpr std::int64_t kLeast = std::int64_t{96} << 20, kMost = std::int64_t{512} << 20;
/// The most sets of buffers. Judgement: so many sets of some KiB lie beyond any first and second
/// cache.
constexpr std::size_t kMostSets = 1024;

/// The random generator xorshift64 (Marsaglia 2003, Xorshift RNGs).
class Random {
 public:
  float next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<float>((state_ >> 40) + 1) / 16777218.0F;
  }

 private:
  std::uint64_t state_ = 88172645463325252ULL;
};

}  // namespace

std::int64_t beyond_cache(std::int64_t cache_bytes) {
  return std::clamp(kTimesCache * cache_bytes, kLeast, kMost);
}

Arena::Arena(std::int64_t bytes) : memory_(static_cast<std::size_t>(bytes) / sizeof(float)) {}

void Arena::deal(std::int64_t floats) {
  if (floats > capacity()) throw calib::NotOffered("larger than the memory that operands have");
  size_ = (static_cast<std::size_t>(floats) + 15) / 16 * 16;
  if (size_ > memory_.size()) size_ = memory_.size();
  sets_ = std::clamp<std::size_t>(memory_.size() / size_, 1, kMostSets);
  Random random;
  for (std::size_t i = 0; i < size_; ++i) memory_[i] = random.next();
  for (std::size_t i = 1; i < sets_; ++i)
    std::copy_n(memory_.begin(), size_, memory_.begin() + static_cast<std::ptrdiff_t>(i * size_));
}

std::span<float> Arena::set(int turn) {
  return {memory_.data() + static_cast<std::size_t>(turn) % sets_ * size_, size_};
}

}  // namespace stepsim::cpu
