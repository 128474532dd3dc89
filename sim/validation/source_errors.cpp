// Gathers errors by publisher.
#include "sim/validation/source_errors.hpp"

#include <map>
#include <string>

namespace stepsim {

SourceErrors source_errors(const std::vector<RecordedRuns>& runs) {
  std::map<std::string, std::vector<double>> by_source;
  std::vector<double> expected, all;
  for (const RecordedRuns& run : runs) {
    const std::vector<double>& errors = run.unseen_errors();
    all.insert(all.end(), errors.begin(), errors.end());
    if (!run.known.empty()) continue;
    expected.insert(expected.end(), errors.begin(), errors.end());
    std::vector<double>& of_source = by_source[run.source()];
    of_source.insert(of_source.end(), errors.begin(), errors.end());
  }
  SourceErrors result{.sources = static_cast<int>(by_source.size()),
                      .rows = errors_of(expected),
                      .with_known = errors_of(all)};
  for (const auto& [source, errors] : by_source) {
    const Errors of_source = errors_of(errors);
    result.mean += of_source.mean / result.sources;
    result.bias += of_source.bias / result.sources;
  }
  return result;
}

}  // namespace stepsim
