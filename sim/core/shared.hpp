// A value that its copies share, because nobody changes it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace stepsim {

/// A constant vector, or another container with the same reading access, that copies share.
template <class T>
class Shared {
 public:
  Shared() : Shared(T{}) {}
  // NOLINTNEXTLINE(google-explicit-constructor): assigned from a T as the T itself would be
  Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  const auto& operator[](std::size_t i) const { return (*value_)[i]; }
  std::size_t size() const { return value_->size(); }
  auto begin() const { return value_->begin(); }
  auto end() const { return value_->end(); }

  /// Whether both hold the same object, not only equal values.
  bool is(const Shared& other) const { return value_ == other.value_; }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace stepsim
