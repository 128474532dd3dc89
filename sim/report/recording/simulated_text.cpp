// Says what a trace of stepsim is, before the report of its run.
#include <fmt/format.h>

#include "sim/report/recording/simulated_report.hpp"
#include "sim/report/run/run_report.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kNarrowest = 72, kWidest = 100;  // as the report below is

class TracePage : Page {
 public:
  explicit TracePage(Screen screen) : Page(screen, kNarrowest, kWidest) {}

  std::string text(const SimulatedTrace& trace, const std::string& report) {
    const SimulatedHead& head = trace.head;
    const std::string replica =
        head.replica > 0 ? fmt::format(", replica {}", head.replica) : std::string();
    wrapped(
        fmt::format("{}: a simulation of {} by stepsim {}{}, read back; what the step would "
                    "take otherwise is simulated now",
                    trace.file, head.scenario, head.version, replica));
    for (std::size_t i = 0; i < trace.not_known.size(); ++i)
      paragraph(i == 0 ? "Not known" : "", trace.not_known[i]);
    line();
    return out_ + report;
  }
};

}  // namespace

std::string to_table(const SimulatedTrace& trace, const Metrics& metrics, const Screen& screen) {
  return TracePage(screen).text(trace, to_table(metrics, {}, screen));
}

}  // namespace stepsim
