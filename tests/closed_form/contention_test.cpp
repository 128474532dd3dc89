// Max-min shares where streams with several links meet: textbook cases (Bertsekas, Gallager, Data
// Networks, 1992, section 6.5.2).
//
// A stream moves at one rate over all its links. Rates grow together until a link is full; the
// streams that cross it stop there, the others go on. A stream that crosses a link k times takes k
// shares of it.
#include <map>

#include "tests/closed_form/board_calls.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

struct Movement {
  std::vector<LinkId> links;
  double bytes = 0;
  double rate = 1e30;
  double start = 0;
};

/// When each movement ends, over links of these capacities.
std::vector<double> ends(const std::vector<double>& capacities,
                         const std::vector<Movement>& movements) {
  Folding folding;
  for (const double capacity : capacities) folding.links.push_back(BytesPerSecond{capacity});
  folding.groups.resize(1);
  auto& streams = folding.groups[0].streams[0];
  for (const Movement& movement : movements) {
    std::map<LinkId, std::uint32_t> times;
    for (const LinkId link : movement.links) ++times[link];
    FoldedStream stream;
    double alone = 1e300;
    for (const auto& [link, crossings] : times) {
      stream.crossings.push_back({link, crossings});
      alone = std::min(alone, capacities[link] / crossings);
    }
    stream.alone = BytesPerSecond{alone};
    streams.push_back(stream);
  }
  BoardCalls board(folding);
  std::vector<double> dates(movements.size());
  for (std::size_t i = 0; i < movements.size(); ++i) {
    board.at(movements[i].start, [&, i](double) {
      board.transfer(streams[i], movements[i].bytes, movements[i].rate, movements[i].start,
                     [&dates, i](double date) { dates[i] = date; });
    });
  }
  board.run();
  return dates;
}

}  // namespace

TEST_CASE("a ring over two links is as slow on both as on the fuller one") {
  // Link 0: ring and one other; link 1: ring and two others, a third of 90 GB/s each. What the ring
  // leaves of link 0 is the other's: 60 GB/s.
  const auto dates = ends({90e9, 90e9}, {{{0, 1}, 30e9}, {{0}, 60e9}, {{1}, 30e9}, {{1}, 30e9}});
  for (const double date : dates) CHECK(date == nine_digits(1.0));
}

TEST_CASE("a ring and an all-to-all share the NICs that they have in common") {
  // Four NICs, up and down, 50 GB/s each. The ring moves 50 GB on each, the all-to-all 25 GB. Each
  // gets half: the all-to-all ends after 1 s, and the ring's second half has the NICs to itself.
  const std::vector<double> nics(8, 50e9);
  const std::vector<LinkId> all{0, 1, 2, 3, 4, 5, 6, 7};
  const auto dates = ends(nics, {{all, 50e9}, {all, 25e9}});
  CHECK(dates[1] == nine_digits(1.0));
  CHECK(dates[0] == nine_digits(1.5));
}

TEST_CASE(
    "an all-to-all that leaves its leaf is limited by the up-link, and leaves NICs to a ring") {
  // Two nodes below a leaf, NICs of 50 GB/s, an up-link of 40 GB/s that both nodes' messages cross:
  // 20 GB/s each. The ring has 30 GB/s of each NIC until the all-to-all's 20 GB have gone, then 50.
  const double up = 40e9, nic = 50e9;
  const auto dates = ends({nic, nic, up}, {{{0, 1, 2, 2}, 20e9}, {{0, 1}, 80e9}});
  CHECK(dates[0] == nine_digits(1.0));
  CHECK(dates[1] == nine_digits(1.0 + 50.0 / 50));
}

TEST_CASE("a stream that joins halfway takes its share of what is left") {
  // Alone until 1 s (100 of 150 GB), then half of 100 GB/s: the last 50 GB until 2 s. The second
  // has moved 50 of 80 GB by then, and ends at 2.3 s.
  const auto dates = ends({100e9}, {{{0}, 150e9}, {{0}, 80e9, 1e30, 1.0}});
  CHECK(dates[0] == nine_digits(2.0));
  CHECK(dates[1] == nine_digits(2.3));
}

TEST_CASE("what follows on a link after another has ended is alone again") {
  const auto dates = ends({100e9}, {{{0}, 100e9}, {{0}, 100e9, 1e30, 1.0}, {{0}, 50e9, 40e9, 5.0}});
  CHECK(dates[0] == nine_digits(1.0));
  CHECK(dates[1] == nine_digits(2.0));
  CHECK(dates[2] == nine_digits(5.0 + 50.0 / 40));
}
