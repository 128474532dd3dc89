// SimGrid's switches, platform and transfers.
#include "sim/engine/board.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <xbt/log.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

// SimGrid counts payload in whole bytes; 1/1024 of a byte is fine enough to agree with closed
// forms.
constexpr double kUnitsPerByte = 1024;

/// Every physical switch, set once per process, before the first platform.
void set_switches() {
  using simgrid::s4u::Engine;
  xbt_log_control_set("root.thres:critical");
  Engine::set_config("network/model:CM02");      // plain max-min, no correction factors
  Engine::set_config("network/TCP-gamma:0");     // no TCP window
  Engine::set_config("network/crosstraffic:0");  // full duplex
#if SIMGRID_VERSION >= 33400
  Engine::set_config("precision/timing:1e-13");
#else
  Engine::set_config("surf/precision:1e-13");  // events closer than this fall together
#endif
}

/// The engine, and, the first time, its switches. SimGrid takes over signals when it starts; they
/// are given back, so that Ctrl-C ends the program as it ends any other.
std::unique_ptr<simgrid::s4u::Engine> make_engine() {
  constexpr std::array kSignals{SIGINT, SIGSEGV};
  std::array<struct sigaction, kSignals.size()> before{};
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &before[i]);
  auto engine = std::make_unique<simgrid::s4u::Engine>("stepsim");
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
  static const bool once = (set_switches(), true);
  static_cast<void>(once);
  return engine;
}

using Crossed = std::vector<simgrid::s4u::LinkInRoute>;

bool lists_twice(const FoldedRoute& route) {
  std::vector<LinkId> links = route.links;
  std::sort(links.begin(), links.end());
  return std::adjacent_find(links.begin(), links.end()) != links.end();
}

std::vector<const FoldedRoute*> shared_routes(const Folding& folding) {
  std::vector<const FoldedRoute*> routes;
  for (const FoldedGroup& group : folding.groups) {
    for (const FoldedRoute& route : group.routes) {
      if (route.shares) routes.push_back(&route);
    }
  }
  for (const FoldedRoute& route : folding.reads) {
    if (route.shares) routes.push_back(&route);
  }
  return routes;
}

}  // namespace

Board* Board::current_ = nullptr;

Board::Board(const Folding& folding) : engine_(make_engine()) {
  static const bool once = [] {
    simgrid::s4u::Activity::on_completion_cb([](const simgrid::s4u::Activity& activity) {
      if (current_ != nullptr) current_->finished(activity);
    });
    return true;
  }();
  static_cast<void>(once);
  if (current_ != nullptr) throw InternalError("two boards at the same time");
  current_ = this;
  base_ = simgrid::s4u::Engine::get_clock();
  build_platform(folding, shared_routes(folding));
}

void Board::build_platform(const Folding& folding, const std::vector<const FoldedRoute*>& routes) {
  // A star zone grows with its hosts, a full zone with their square; but a star drops a link that a
  // route lists again, and these repetitions are the multiplicities of a folded plan.
  const bool repeats =
      std::any_of(routes.begin(), routes.end(), [](const auto* r) { return lists_twice(*r); });
  auto* zone = repeats ? simgrid::s4u::create_full_zone("cluster")
                       : simgrid::s4u::create_star_zone("cluster");
  sink_ = zone->create_host("sink", 1.0);
  if (!repeats) zone->add_route(sink_->get_netpoint(), nullptr, nullptr, nullptr, Crossed{}, true);
  for (const BytesPerSecond bandwidth : folding.links) {
    auto* link = zone->create_link(fmt::format("link {}", links_.size()),
                                   bandwidth.bytes_per_second() * kUnitsPerByte);
    links_.push_back(link->set_latency(0)->seal());
  }
  for (const FoldedRoute* route : routes) {
    sources_[route] = zone->create_host(fmt::format("source {}", sources_.size()), 1.0);
  }
  for (const FoldedRoute* route : routes) {
    Crossed crossed;
    for (const LinkId link : route->links) crossed.emplace_back(links_[link]);
    auto* sink = repeats ? sink_->get_netpoint() : nullptr;
    zone->add_route(sources_[route]->get_netpoint(), sink, nullptr, nullptr, crossed, false);
  }
  zone->seal();
}

Board::~Board() { current_ = nullptr; }

void Board::at(double date, std::function<void()> callback) {
  ++events_;
  if (open_ == nullptr || date != open_date_) open_ = open_batch(date);
  open_->push_back(std::move(callback));
}

Board::Callbacks* Board::open_batch(double date) {
  if (spare_.empty()) spare_.push_back(&batches_.emplace_back());
  Callbacks* batch = spare_.back();
  spare_.pop_back();
  open_date_ = date;
  // The date of a transfer that ended just now may be rounded to before now; SimGrid aborts on it.
  const double due = std::max(base_ + date, simgrid::s4u::Engine::get_clock());
  simgrid::kernel::timer::Timer::set(due, [this, batch] { fire(batch); });
  return batch;
}

void Board::fire(Callbacks* batch) {
  if (batch == open_) open_ = nullptr;
  for (const auto& callback : *batch) callback();
  batch->clear();
  spare_.push_back(batch);
}

void Board::transfer(const FoldedRoute& route, double bytes, std::function<void(double)> done) {
  ++transfers_;
  auto comm = simgrid::s4u::Comm::sendto_init(sources_.at(&route), sink_);
  comm->set_payload_size(static_cast<std::uint64_t>(std::llround(bytes * kUnitsPerByte)));
  moving_[comm.get()] = {comm, std::move(done)};
  comm->start();
}

void Board::finished(const simgrid::s4u::Activity& activity) {
  const auto found = moving_.find(&activity);
  if (found == moving_.end()) return;
  // The handle must outlive this callback, and the next transfer must not start inside it.
  const double date = simgrid::s4u::Engine::get_clock() - base_;
  auto moved = std::make_shared<Moving>(std::move(found->second));
  moving_.erase(found);
  at(date, [moved, date] { moved->done(date); });
}

void Board::run() { engine_->run(); }

}  // namespace stepsim
