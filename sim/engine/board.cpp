// SimGrid's switches, platform and transfers.
#include "sim/engine/board.hpp"

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
// become a microsecond. Ranks that are alike have to stay alike, so what is rounded off is less
// than what doubles round: at 1 GB/s a unit takes 1e-15 s.
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
    streams.push_back({.links = {load.link}, .shares = true, .alone = load.rate});
  return streams;
}

std::vector<const FoldedStream*> shared_streams(const Folding& folding,
                                                const std::vector<FoldedStream>& background) {
  std::vector<const FoldedStream*> shared;
  const auto add = [&](const std::vector<FoldedStream>& streams) {
    for (const FoldedStream& stream : streams) {
      if (stream.shares) shared.push_back(&stream);
    }
  };
  for (const FoldedGroup& group : folding.groups) {
    for (const auto& streams : group.streams) add(streams);
  }
  add(folding.reads);
  add(background);
  return shared;
}

/// Each link of a stream once.
std::vector<LinkId> links_of(const FoldedStream& stream) {
  std::vector<LinkId> links = stream.links;
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
  return links;
}

}  // namespace

Board* Board::current_ = nullptr;

Board::Board(const Folding& folding) : folding_(folding), windows_(folding.windows) {
  if (current_ != nullptr) throw InternalError("two boards at the same time");
  current_ = this;
  background_ = streams_of(folding.background);
  on_link_.resize(folding.links.size());
  left_.assign(folding.links.size(), 1);
  if (!background_.empty()) at(0, [this](double date) { begin_background(date); });
}

Board::~Board() { current_ = nullptr; }

// --- what happens when

void Board::at(double date, Callback callback) {
  ++events_;
  agenda_.add(date, std::move(callback));
}

void Board::run() {
  pass_without();
  if (!is_moving()) return;
  stop_at(next_stop());
  engine_->run();  // stop() does everything that follows
}

void Board::pass_without() {
  while (!is_moving() && !idle()) pass_next();
}

void Board::pass_next() {
  if (windows_.next() <= agenda_.next()) return change_links();
  const double date = agenda_.next();
  agenda_.take()(date);
}

void Board::change_links() {
  for (const auto& [link, factor] : windows_.pass()) {
    left_[link] = std::max(factor, kDown);
    if (engine_) set_bandwidth(link, left_[link]);
  }
}

void Board::set_bandwidth(LinkId link, double factor) {
  links_[link]->set_bandwidth(folding_.links[link].bytes_per_second() * factor * kUnitsPerByte);
}

/// The end of a transfer that is rounded to just before now would never be seen.
void Board::grow_older(double date) {
  const double clock = engine_ ? simgrid::s4u::Engine::get_clock() : 0;
  const double age = std::max({date, clock, kYoung});
  old_until_ = date + age;
  instant_ = std::max(kInstant, kSteps * (std::nextafter(2 * age, INFINITY) - 2 * age));
  if (engine_) set_instant(instant_);
}

// --- SimGrid

/// From here on it has something to move. Where its clock stands is as good a date as any.
void Board::start_simgrid(double date) {
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

void Board::build_platform() {
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
    for (const LinkId link : stream->links) crossed.emplace_back(links_[link]);
    // A star drops a link that a route lists again; such a stream has a zone of its own.
    if (links_of(*stream).size() < stream->links.size()) {
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

void Board::stop_at(double date) {
  stop_date_ = date;
  // The date of a transfer that ended just now may be rounded to before now; SimGrid aborts on it.
  const double due = std::max(base_ + date, simgrid::s4u::Engine::get_clock());
  stop_ = simgrid::kernel::timer::Timer::set(due, [this] { stop(); });
}

void Board::stop() {
  stop_ = nullptr;
  const double date = stop_date_;
  if (date >= old_until_) grow_older(date);
  while (is_moving() && next_date() <= date) pass_next();
  pass_without();
  if (is_moving()) stop_at(next_stop());  // without a next stop, SimGrid's run ends
}

void Board::begin_background(double date) {
  for (const FoldedStream& stream : background_) {
    const MovingId id = endless_.emplace_back(next_++);
    moving_[id] = {&stream, INFINITY, stream.alone.bytes_per_second(), 0, 0, [](double) {}, {}};
    on_link_[stream.links.front()].push_back(id);
    hand_over(id, INFINITY, date);
  }
}

void Board::end_background() {
  for (const MovingId id : endless_) {
    // SimGrid looks at it once more after this callback.
    const auto& comm = cancelled_.emplace_back(moving_.at(id).comm);
    const bool is_moving = comms_.erase(comm.get()) > 0;
    leave(id);
    if (is_moving) comm->cancel();
  }
  endless_.clear();
}

void Board::transfer(const FoldedStream& stream, double bytes, double rate, double date,
                     Callback done) {
  const double alone = std::min(rate, stream.alone.bytes_per_second());
  if (!stream.shares) return at(date + bytes / alone, std::move(done));
  if (date >= old_until_) grow_older(date);
  const bool met = meet_others(stream, date);
  const MovingId id = next_++;
  Moving& moving = moving_[id];
  moving = {&stream, bytes, rate, date, date + bytes / alone, std::move(done), {}};
  for (const LinkId link : links_of(stream)) on_link_[link].push_back(id);
  if (met || stream.varies) return hand_over(id, bytes, date);
  move_alone(id);
}

bool Board::meet_others(const FoldedStream& stream, double date) {
  bool met = false;
  for (const LinkId link : links_of(stream)) {
    for (const MovingId id : on_link_[link]) {
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

void Board::move_alone(MovingId id) {
  at(moving_.at(id).end, [this, id](double end) {
    const auto found = moving_.find(id);
    if (found == moving_.end() || found->second.comm != nullptr) return;
    const Callback done = std::move(found->second.done);
    leave(id);
    done(end);
  });
}

void Board::hand_over(MovingId id, double bytes, double date) {
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
  std::vector<LinkId> slow = links_of(*moving.stream);
  std::erase_if(slow, [&](LinkId link) { return left_[link] == 1; });
  for (const LinkId link : slow) set_bandwidth(link, 1);
  moving.comm->set_destination(to);  // starts it
  for (const LinkId link : slow) set_bandwidth(link, left_[link]);
}

void Board::leave(MovingId id) {
  for (const LinkId link : links_of(*moving_.at(id).stream)) {
    auto& on = on_link_[link];
    on.erase(std::ranges::find(on, id));
  }
  moving_.erase(id);
}

void Board::finished(const simgrid::s4u::Activity& activity) {
  const auto found = comms_.find(&activity);
  if (found == comms_.end()) return;
  // The handle must outlive this callback, and the next transfer must not start inside it.
  const MovingId id = found->second;
  comms_.erase(found);
  const double now = simgrid::s4u::Engine::get_clock() - base_;
  at(now, [this, id](double date) {
    const auto moving = moving_.find(id);
    if (moving == moving_.end()) return;  // background, taken off meanwhile
    if (moving->second.later > 0) return hand_over(id, moving->second.later, date);
    const Callback done = std::move(moving->second.done);
    leave(id);
    done(date);
  });
  if (now >= stop_date_) return;
  stop_->remove();
  stop_at(now);
}

}  // namespace stepsim
