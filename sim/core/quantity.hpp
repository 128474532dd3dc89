// Physical quantities: a double that knows its dimension, so that bytes never meet seconds.
//
// A Quantity has the dimension s^S * B^B * flop^F and holds SI base units (seconds, bytes, flops).
// Construct by literal or named unit (`5_us`, `25_MiB`, `Seconds{1.5}`); leave by name
// (`t.seconds()`). Products and quotients carry the dimension: `2_GiB / 900_GBps` is `Seconds`.
#pragma once

#include <cmath>
#include <compare>

namespace stepsim {

template <int S, int B, int F>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double base_units) : value_(base_units) {}

  constexpr double base() const { return value_; }
  constexpr double seconds() const requires(S == 1 && B == 0 && F == 0) { return value_; }
  constexpr double milliseconds() const requires(S == 1 && B == 0 && F == 0) {
    return value_ * 1e3;
  }
  constexpr double microseconds() const requires(S == 1 && B == 0 && F == 0) {
    return value_ * 1e6;
  }
  constexpr double bytes() const requires(S == 0 && B == 1 && F == 0) { return value_; }
  constexpr double gibibytes() const requires(S == 0 && B == 1 && F == 0) {
    return value_ / 0x1p30;
  }
  constexpr double flops() const requires(S == 0 && B == 0 && F == 1) { return value_; }
  constexpr double bytes_per_second() const requires(S == -1 && B == 1 && F == 0) { return value_; }
  constexpr double flops_per_second() const requires(S == -1 && B == 0 && F == 1) { return value_; }

  constexpr Quantity operator-() const { return Quantity{-value_}; }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }
  constexpr auto operator<=>(const Quantity&) const = default;

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity{a.value_ + b.value_};
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity{a.value_ - b.value_};
  }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity{a.value_ * k}; }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity{a.value_ / k}; }

 private:
  double value_ = 0;
};

/// The product of two quantities; a plain double when the dimensions cancel.
template <int S1, int B1, int F1, int S2, int B2, int F2>
constexpr auto operator*(Quantity<S1, B1, F1> a, Quantity<S2, B2, F2> b) {
  const double value = a.base() * b.base();
  if constexpr (S1 + S2 == 0 && B1 + B2 == 0 && F1 + F2 == 0) {
    return value;
  } else {
    return Quantity<S1 + S2, B1 + B2, F1 + F2>{value};
  }
}

/// The quotient of two quantities; a plain double when the dimensions are equal.
template <int S1, int B1, int F1, int S2, int B2, int F2>
constexpr auto operator/(Quantity<S1, B1, F1> a, Quantity<S2, B2, F2> b) {
  const double value = a.base() / b.base();
  if constexpr (S1 == S2 && B1 == B2 && F1 == F2) {
    return value;
  } else {
    return Quantity<S1 - S2, B1 - B2, F1 - F2>{value};
  }
}

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flops = Quantity<0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1>;
using PerSecond = Quantity<-1, 0, 0>;

inline namespace literals {
constexpr Seconds operator""_s(long double v) { return Seconds{static_cast<double>(v)}; }
constexpr Seconds operator""_s(unsigned long long v) { return Seconds{static_cast<double>(v)}; }
constexpr Seconds operator""_ms(long double v) { return Seconds{static_cast<double>(v) * 1e-3}; }
constexpr Seconds operator""_ms(unsigned long long v) {
  return Seconds{static_cast<double>(v) * 1e-3};
}
constexpr Seconds operator""_us(long double v) { return Seconds{static_cast<double>(v) * 1e-6}; }
constexpr Seconds operator""_us(unsigned long long v) {
  return Seconds{static_cast<double>(v) * 1e-6};
}
constexpr Bytes operator""_B(unsigned long long v) { return Bytes{static_cast<double>(v)}; }
constexpr Bytes operator""_KiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 0x1p10};
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 0x1p20};
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes{static_cast<double>(v) * 0x1p30};
}
constexpr Bytes operator""_GB(unsigned long long v) { return Bytes{static_cast<double>(v) * 1e9}; }
constexpr BytesPerSecond operator""_GBps(long double v) {
  return BytesPerSecond{static_cast<double>(v) * 1e9};
}
constexpr BytesPerSecond operator""_GBps(unsigned long long v) {
  return BytesPerSecond{static_cast<double>(v) * 1e9};
}
constexpr FlopsPerSecond operator""_TFLOPps(long double v) {
  return FlopsPerSecond{static_cast<double>(v) * 1e12};
}
constexpr FlopsPerSecond operator""_TFLOPps(unsigned long long v) {
  return FlopsPerSecond{static_cast<double>(v) * 1e12};
}
}  // namespace literals

}  // namespace stepsim
