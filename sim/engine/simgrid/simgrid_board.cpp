// SimGrid's switches, platform and transfers.
#include "sim/engine/simgrid/simgrid_board.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>

#include <fmt/format.h>
#include <xbt/log.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

// SimGrid counts payload in whole bytes. Flows that share links make a difference in time grow:
// where one comes later, the other ends earlier, and after some twenty meetings a picosecond has
// become a microsecond. So what is rounded off is less than what doubles round: at 1 GB/s a unit
// takes 1e-15 s.
constexpr double kUnitsPerByte = 0x1p20;
// Bytes of one transfer, as many as 64 bits count; what is longer follows in another one.
constexpr double kMost = 0x1p43;
// Dates closer than this are one on a young clock, of less than twice so many seconds.
constexpr double kInstant = 1e-13;
constexpr double kYoung = 64;
// On an older one, steps between neighbouring doubles.
constexpr double kSteps = 4;
// What is left of a link that is down: to SimGrid a link of no bandwidth has no limit.
constexpr double kDown = 1e-12;

/// SimGrid takes the ends of transfers that are closer to now for now.
void set_instant(double seconds) {
#if SIMGRID_VERSION >= 33400
  simgrid::s4u::Engine::set_config(fmt::format("precision/timing:{}", seconds));
#else
  simgrid::s4u::Engine::set_config(fmt::format("surf/precision:{}", seconds));
#endif
}

/// Every physical switch, set once per process, before the first platform.
void set_switches() {
  using simgrid::s4u::Engine;
  xbt_log_control_set("root.thres:critical");
  Engine::set_config("network/model:CM02");      // plain max-min, no correction factors
  Engine::set_config("network/TCP-gamma:0");     // no TCP window
  Engine::set_config("network/crosstraffic:0");  // full duplex
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

std::vector<FoldedStream> streams_of(const std::vector<FoldedLoad>& background) {
  std::vector<FoldedStream> streams;
  for (const FoldedLoad& load : background)
    streams.push_back({.crossings = {{load.link, 1}}, .alone = load.rate});
  return streams;
}

std::vector<const FoldedStream*> shared_streams(const Folding& folding,
                                                const std::vector<FoldedStream>& background) {
  std::vector<const FoldedStream*> shared;
  const auto add = [&](const std::vector<FoldedStream>& streams) {
    for (const FoldedStream& stream : streams) {
      if (stream.shares()) shared.push_back(&stream);
    }
  };
  for (const FoldedGroup& group : folding.groups) {
    for (const auto& streams : group.streams) add(streams);
  }
  add(folding.reads);
  add(background);
  return shared;
}

}  // namespace

SimGridBoard* SimGridBoard::current_ = nullptr;

SimGridBoard::SimGridBoard(const Folding& folding, BoardUser& user)
    : folding_(folding), user_(user), windows_(folding.windows) {
  if (current_ != nullptr) throw InternalError("two boards of SimGrid's at the same time");
  current_ = this;
  background_ = streams_of(folding.background);
  on_link_.resize(folding.links.size());
  left_.assign(folding.links.size(), 1);
  if (!background_.empty()) agenda_.add(0, {EventKind::traffic_starts});
}

SimGridBoard::~SimGridBoard() { current_ = nullptr; }

// --- what happens when

void SimGridBoard::at(double date, Event event) {
  if (std::isnan(date)) throw InternalError("an event without a date");
  agenda_.add(date, event);
}

void SimGridBoard::run() {
  pass_without();
  if (!is_moving()) return;
  stop_at(next_stop());
  engine_->run();  // pause() does everything that follows
}

void SimGridBoard::pass_without() {
  while (!is_moving() && !idle()) pass(next_date());
}

/// All of that date, and of those before it.
void SimGridBoard::pass(double date) {
  do {
    while (windows_.next() <= date) change_links();
    while (agenda_.next() <= date) happen(agenda_.take(), date);
    user_.settle(date);
  } while (agenda_.next() <= date);
}

void SimGridBoard::happen(Event event, double date) {
  switch (event.kind) {
    case EventKind::traffic_starts:
      return begin_background(date);
    case EventKind::transfer_ends:
      return event.b == 0 ? end_alone(event.a, date) : end_moved(event.a, date);
    default:
      ++events_;
      return user_.happen(event, date);
  }
}

void SimGridBoard::change_links() {
  for (const auto& [link, factor] : windows_.pass()) {
    left_[link] = std::max(factor, kDown);
    if (engine_) set_bandwidth(link, left_[link]);
  }
}

void SimGridBoard::set_bandwidth(LinkId link, double factor) {
  links_[link]->set_bandwidth(folding_.links[link].bytes_per_second() * factor * kUnitsPerByte);
}

/// The end of a transfer that is rounded to just before now would never be seen.
void SimGridBoard::grow_older(double date) {
  const double clock = engine_ ? simgrid::s4u::Engine::get_clock() : 0;
  const double age = std::max({date, clock, kYoung});
  old_until_ = date + age;
  instant_ = std::max(kInstant, kSteps * (std::nextafter(2 * age, INFINITY) - 2 * age));
  if (engine_) set_instant(instant_);
}

// --- SimGrid

/// From here on it has something to move. Where its clock stands is as good a date as any.
void SimGridBoard::start_simgrid(double date) {
  if (!engine_) {
    engine_ = make_engine();
    static const bool once = [] {
      simgrid::s4u::Activity::on_completion_cb([](const simgrid::s4u::Activity& activity) {
        if (current_ != nullptr) current_->finished(activity);
      });
      return true;
    }();
    static_cast<void>(once);
    build_platform();
    grow_older(date);
  }
  base_ = simgrid::s4u::Engine::get_clock() - date;
}

void SimGridBoard::build_platform() {
  auto* root = simgrid::s4u::create_empty_zone("cluster");
  auto* star = simgrid::s4u::create_star_zone("streams")->set_parent(root);
  auto* sink = star->create_host("sink", 1.0);
  star->add_route(sink->get_netpoint(), nullptr, nullptr, nullptr, Crossed{}, true);
  for (const BytesPerSecond bandwidth : folding_.links) {
    auto* link = star->create_link(fmt::format("link {}", links_.size()),
                                   bandwidth.bytes_per_second() * kUnitsPerByte);
    links_.push_back(link->set_latency(0)->seal());
  }
  for (LinkId link = 0; link < left_.size(); ++link) {
    if (left_[link] != 1) set_bandwidth(link, left_[link]);
  }
  for (const FoldedStream* stream : shared_streams(folding_, background_)) {
    const std::string number = std::to_string(ends_.size());
    // SimGrid 3.32 forgets the rate of a transfer from host to host; a link of its own limits it.
    auto* limit = star->create_link("limit " + number, 1.0)->set_latency(0)->seal();
    Crossed crossed{simgrid::s4u::LinkInRoute(limit)};
    bool again = false;
    for (const auto& [link, times] : stream->crossings) {
      crossed.insert(crossed.end(), times, simgrid::s4u::LinkInRoute(links_[link]));
      again |= times > 1;
    }
    // A star drops a link that a route lists again; such a stream has a zone of its own.
    if (again) {
      auto* zone = simgrid::s4u::create_full_zone("zone " + number)->set_parent(root);
      auto* from = zone->create_host("from " + number, 1.0);
      auto* to = zone->create_host("to " + number, 1.0);
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, crossed, false);
      zone->seal();
      ends_[stream] = {from, to, limit};
    } else {
      auto* from = star->create_host("from " + number, 1.0);
      star->add_route(from->get_netpoint(), nullptr, nullptr, nullptr, crossed, false);
      ends_[stream] = {from, sink, limit};
    }
  }
  star->seal();
  root->seal();
}

void SimGridBoard::stop_at(double date) {
  stop_date_ = date;
  // The date of a transfer that ended just now may be rounded to before now; SimGrid aborts on it.
  const double due = std::max(base_ + date, simgrid::s4u::Engine::get_clock());
  stop_ = simgrid::kernel::timer::Timer::set(due, [this] { pause(); });
}

void SimGridBoard::pause() {
  stop_ = nullptr;
  const double date = stop_date_;
  if (date >= old_until_) grow_older(date);
  if (next_date() <= date) pass(date);
  pass_without();
  if (is_moving()) stop_at(next_stop());  // without a next stop, SimGrid's run ends
}

void SimGridBoard::begin_background(double date) {
  for (const FoldedStream& stream : background_) {
    const MovingId id = endless_.emplace_back(next_++);
    moving_[id] = {&stream, INFINITY, stream.alone.bytes_per_second(), 0, 0, {}, {}};
    on_link_[stream.crossings.front().link].push_back(id);
    hand_over(id, INFINITY, date);
  }
}

void SimGridBoard::end_background() {
  for (const MovingId id : endless_) {
    // SimGrid looks at it once more after this callback.
    const auto& comm = cancelled_.emplace_back(moving_.at(id).comm);
    const bool is_moving = comms_.erase(comm.get()) > 0;
    leave(id);
    if (is_moving) comm->cancel();
  }
  endless_.clear();
}

void SimGridBoard::transfer(const FoldedStream& stream, double bytes, double rate, double date,
                            Event done) {
  const double alone = std::min(rate, stream.alone.bytes_per_second());
  if (!stream.shares()) return at(date + bytes / alone, done);
  if (date >= old_until_) grow_older(date);
  const bool met = meet_others(stream, date);
  const MovingId id = next_++;
  Moving& moving = moving_[id];
  moving = {&stream, bytes, alone, date, date + bytes / alone, done, {}};
  for (const Crossing crossing : stream.crossings) on_link_[crossing.link].push_back(id);
  if (met || stream.varies) return hand_over(id, bytes, date);
  agenda_.add(moving.end, {EventKind::transfer_ends, id, 0});
}

bool SimGridBoard::meet_others(const FoldedStream& stream, double date) {
  bool met = false;
  for (const Crossing crossing : stream.crossings) {
    for (const MovingId id : on_link_[crossing.link]) {
      Moving& other = moving_.at(id);
      const double left = other.end - date;
      // the transfer that it meets ends now
      if (other.comm == nullptr && left <= instant_) continue;
      met = true;
      if (other.comm == nullptr)
        hand_over(id, other.bytes * left / (other.end - other.begin), date);
    }
  }
  return met;
}

void SimGridBoard::end_alone(MovingId id, double date) {
  const auto found = moving_.find(id);
  if (found == moving_.end() || found->second.comm != nullptr) return;
  const Event done = found->second.done;
  leave(id);
  ++events_;
  user_.happen(done, date);
}

void SimGridBoard::hand_over(MovingId id, double bytes, double date) {
  if (!is_moving()) start_simgrid(date);
  Moving& moving = moving_.at(id);
  ++transfers_;
  const auto [from, to, limit] = ends_.at(moving.stream);
  limit->set_bandwidth(moving.rate * kUnitsPerByte);
  moving.comm = simgrid::s4u::Comm::sendto_init();
  comms_[moving.comm.get()] = id;
  const double now = std::min(bytes, kMost);
  moving.later = bytes - now;
  moving.comm->set_payload_size(static_cast<std::uint64_t>(std::nearbyint(now * kUnitsPerByte)));
  moving.comm->set_source(from);
  // SimGrid bounds a transfer for good by what its links have when it starts.
  std::vector<LinkId> slow;
  for (const Crossing crossing : moving.stream->crossings) {
    if (left_[crossing.link] != 1) slow.push_back(crossing.link);
  }
  for (const LinkId link : slow) set_bandwidth(link, 1);
  moving.comm->set_destination(to);  // starts it
  for (const LinkId link : slow) set_bandwidth(link, left_[link]);
}

void SimGridBoard::leave(MovingId id) {
  for (const Crossing crossing : moving_.at(id).stream->crossings) {
    auto& on = on_link_[crossing.link];
    on.erase(std::ranges::find(on, id));
  }
  moving_.erase(id);
}

void SimGridBoard::finished(const simgrid::s4u::Activity& activity) {
  const auto found = comms_.find(&activity);
  if (found == comms_.end()) return;
  // The handle must outlive this callback, and the next transfer must not start inside it.
  const MovingId id = found->second;
  comms_.erase(found);
  const double now = simgrid::s4u::Engine::get_clock() - base_;
  agenda_.add(now, {EventKind::transfer_ends, id, 1});
  if (now >= stop_date_) return;
  stop_->remove();
  stop_at(now);
}

void SimGridBoard::end_moved(MovingId id, double date) {
  const auto moving = moving_.find(id);
  if (moving == moving_.end()) return;  // background, taken off meanwhile
  if (moving->second.later > 0) return hand_over(id, moving->second.later, date);
  const Event done = moving->second.done;
  leave(id);
  ++events_;
  user_.happen(done, date);
}

}  // namespace stepsim
