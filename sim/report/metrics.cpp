// Copies of the metrics.
#include "sim/report/metrics.hpp"

namespace stepsim {

Metrics::Metrics() = default;
Metrics::Metrics(const Metrics&) = default;
Metrics::Metrics(Metrics&&) noexcept = default;
Metrics& Metrics::operator=(const Metrics&) = default;
Metrics& Metrics::operator=(Metrics&&) noexcept = default;
Metrics::~Metrics() = default;

}  // namespace stepsim
