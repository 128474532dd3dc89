// Max-min shares of links among transfers, exact for classes.
//
// Rates grow together until a link is full or a transfer has as much as it can take; these stop
// there, the others go on (progressive filling: Bertsekas, Gallager, Data Networks, 1992, section
// 6.5.2). A transfer that crosses a link k times counts as the integer k. All that stops at one
// level is taken off a link at once, as a count times the level. So m transfers that are alike get,
// to the bit, what one gets that crosses each of their links m times: no order of additions is left
// in which a folded and an unfolded run could differ.
//
// Only what a change can reach is worked out again: the transfers that are joined to it by links
// that could be full. A link is passed over while all that its transfers could take together is
// less than it has, which is counted in integers, so that nothing adds up in an order here either.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/fold.hpp"

namespace stepsim {

class Sharing {
 public:
  using Id = std::uint32_t;

  explicit Sharing(const std::vector<BytesPerSecond>& links);

  /// A transfer over these links, kept by reference, of at most so many bytes per second. It has no
  /// rate before the next share(). Ids of removed transfers are given again.
  Id add(const std::vector<Crossing>& crossings, double most);
  void remove(Id transfer);
  /// The link has this share of its bandwidth from now on; greater than 0, at most 1.
  void set_capacity(LinkId link, double share);

  /// Works out what changed since the last call; returns the transfers whose rates are others now.
  const std::vector<Id>& share();

  /// Bytes per second.
  double rate(Id transfer) const { return transfers_[transfer].rate; }
  /// Transfers that have met another one on a link that could not carry all.
  std::int64_t contended() const { return contended_; }

 private:
  struct Transfer {
    const std::vector<Crossing>* crossings = nullptr;
    double most = 0;
    double rate = 0;
    std::vector<std::uint32_t> places;  // among the members of each link
    std::uint32_t mark = 0;             // the last share() that came by
    bool is_stopped = false;            // its rate of this share() is known
    bool has_met = false;
  };
  struct Member {
    Id transfer;
    std::uint32_t crossing;  // which of its crossings this is
  };
  struct Link {
    double bandwidth = 0;      // at its best
    double capacity = 0;       // now
    std::uint64_t wanted = 0;  // the most that its members can take, in parts of the bandwidth
    std::uint64_t limit = 0;   // what it has, in such parts
    std::vector<Member> members;
    bool is_dirty = false;
    // What share() works with.
    std::uint32_t mark = 0;
    double left = 0;
    std::int64_t going = 0;     // crossings of transfers that have not stopped
    std::int64_t stopping = 0;  // of those that stop at this level
    double level() const { return left / static_cast<double>(going); }
  };
  struct Level {
    double rate;
    LinkId link;
  };

  static std::uint64_t parts(const Link& link, const Transfer& transfer, Crossing crossing);
  static bool could_be_full(const Link& link) { return link.wanted >= link.limit; }
  void touch(LinkId link);
  void reach(Id transfer);
  void fill();
  void stop(Id transfer, double rate);

  std::vector<Link> links_;
  std::vector<Transfer> transfers_;
  std::vector<Id> free_;
  std::vector<LinkId> dirty_;
  std::vector<Id> new_;  // added since the last share()
  std::vector<Id> changed_;
  std::uint32_t mark_ = 0;
  std::int64_t contended_ = 0;
  // One part of the network at a time.
  std::vector<Id> reached_;
  std::vector<LinkId> crossed_;
  std::vector<Level> levels_;     // a heap, the lowest in front; older ones may be out of date
  std::vector<LinkId> stopping_;  // links of which some stop at this level
};

}  // namespace stepsim
