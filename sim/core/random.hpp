// Random numbers that depend on nothing but what they are for.
//
// A generator hands out its numbers in the order in which it is asked, so that the order of events,
// folding or a second process would change them. Here a number is a hash of its key, (seed,
// replica, rank, task), say: a counter-based generator as in Salmon, Moraes, Dror, Shaw 2011
// ("Parallel random numbers: as easy as 1, 2, 3"), with the finaliser of SplitMix64 (Steele, Lea,
// Flood 2014) as its hash.
#pragma once

#include <cstdint>

namespace stepsim {

class RandomKey {
 public:
  constexpr explicit RandomKey(std::uint64_t seed = 0) : state_(mixed(seed)) {}

  /// The key of one part of what this key is for, such as one rank of a replica.
  constexpr RandomKey with(std::uint64_t part) const {
    return RandomKey(3 * state_ + mixed(part));  // the 3 makes the order of parts count
  }

  constexpr std::uint64_t bits() const { return state_; }
  /// A uniform number, greater than 0 and less than 1.
  constexpr double uniform() const { return (static_cast<double>(state_ >> 12) + 0.5) * 0x1p-52; }

  constexpr auto operator<=>(const RandomKey&) const = default;

 private:
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;  // keeps 0 from being its own image
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace stepsim
