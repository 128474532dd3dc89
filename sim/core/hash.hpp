// A short fingerprint of a text, which says from which input a result came.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stepsim {

/// The fingerprint as 16 lower-case hexadecimal digits.
inline std::string fnv1a_hex(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;  // offset basis
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;  // prime
  }
  std::string digits(16, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, hash >>= 4) {
    *digit = "0123456789abcdef"[hash & 15];
  }
  return digits;
}

}  // namespace stepsim
