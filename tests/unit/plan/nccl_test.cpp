// NCCL's cost model: channels, latencies, bandwidths, and the sizes at which its choice changes.
//
// The expected values are NCCL's own formulas (NVIDIA/nccl v2.30.7 src/graph/tuning.cc) worked out
// by hand for DGX systems, whose channels NCCL prints in its log.
#include <doctest/doctest.h>

#include "sim/plan/nccl/channels.hpp"
#include "sim/plan/nccl/chunks.hpp"
#include "sim/plan/nccl/cost.hpp"
#include "sim/plan/nccl/graph.hpp"
#include "sim/plan/nccl/refusal.hpp"
#include "sim/plan/nccl/thresholds.hpp"

using namespace stepsim;
using namespace stepsim::nccl;

namespace {

Communicator dgx(Architecture architecture, int ranks, int nodes = 1) {
  Communicator c{.architecture = architecture, .ranks = ranks, .nodes = nodes};
  c.nics = std::min(8, ranks / nodes);
  const bool ampere = architecture == Architecture::ampere;
  c.link = ampere ? 300_GBps : architecture == Architecture::hopper ? 450_GBps : 900_GBps;
  c.nic = ampere ? 25_GBps : 50_GBps;
  return c;
}

const Communicator kA100 = dgx(Architecture::ampere, 8);
const Communicator kH100 = dgx(Architecture::hopper, 8);
const Communicator kB200 = dgx(Architecture::blackwell, 8);

Candidate all_reduce(const Communicator& c, Algorithm algorithm, Protocol protocol,
                     Bytes bytes = 1_GiB) {
  return candidate(c, CollectiveOp::all_reduce, algorithm, protocol, bytes);
}

std::string choice(const Communicator& c, CollectiveOp op, Bytes bytes) {
  const auto best = cheapest(c, op, bytes);
  return best ? std::string(name_of(best->algorithm)) + " " + name_of(best->protocol) : "none";
}

doctest::Approx near(double value) { return doctest::Approx(value).epsilon(1e-9).scale(0); }

}  // namespace

TEST_CASE("rings have 24 channels on DGX A100 and DGX H100, 32 on DGX B200, as their logs say") {
  CHECK(most_channels(kA100, Algorithm::ring) == 24);
  CHECK(most_channels(kH100, Algorithm::ring) == 24);
  CHECK(most_channels(kB200, Algorithm::ring) == 32);
  CHECK(graph_of(kA100, Algorithm::ring).inside == 20);
  CHECK(graph_of(kH100, Algorithm::ring).inside == 30);
  CHECK(graph_of(kB200, Algorithm::ring).inside == 45);
}

namespace {

/// As NCCL prints them: "24 coll channels, 16 nvls channels, 32 p2p channels, 32 p2p channels per
/// peer", which a shift uses halved until all ranks have some.
struct Logged {
  int coll = 0, nvls = 0, pairs = 0;
  bool operator==(const Logged&) const = default;
};

Logged logged(const Communicator& c) {
  return {most_channels(c, Algorithm::ring), most_channels(c, Algorithm::nvls),
          pair_channels(c, CollectiveOp::all_to_all)};
}

}  // namespace

TEST_CASE("channels are those that logs of NCCL print") {
  const int kNone = 16;  // Ampere prints 0; NVLS is refused there
  // Two p5.48xlarge, and one of them; eight B200.
  CHECK(logged(kH100) == Logged{24, 16, 32});
  CHECK(logged(dgx(Architecture::hopper, 16, 2)) == Logged{16, 16, 16});
  CHECK(logged(kB200) == Logged{32, 24, 32});
  // Channels of one node of A100, of two with eight adapters, and of two with four (NVIDIA/nccl
  // issue 1453 has three nodes of H100 with eight: "Channel 00/16").
  CHECK(logged(kA100) == Logged{24, kNone, 32});
  CHECK(logged(dgx(Architecture::ampere, 16, 2)) == Logged{16, kNone, 16});
  CHECK(logged(dgx(Architecture::hopper, 24, 3)) == Logged{16, 16, 16});
  Communicator four = dgx(Architecture::ampere, 16, 2);
  four.nics = 4;
  CHECK(logged(four) == Logged{8, kNone, 8});
  // Eight H800, whose NVLinks are 400 GB/s: "Channel 00/16".
  Communicator h800 = kH100;
  h800.link = 200_GBps;
  CHECK(logged(h800) == Logged{16, 16, 16});
  // Eight V100: one ring for each of six NVLinks, doubled.
  Communicator v100 = kA100;
  v100.architecture = Architecture::volta;
  v100.link = 150_GBps;
  CHECK(most_channels(v100, Algorithm::ring) == 12);
}

TEST_CASE("trees have the channels of rings, as NCCL takes the fewer of both for both") {
  const Communicator two = dgx(Architecture::ampere, 16, 2);
  CHECK(graph_of(two, Algorithm::tree).channels == 2 * graph_of(two, Algorithm::ring).channels);
  CHECK(most_channels(two, Algorithm::tree) == 16);
}

TEST_CASE("a small message of a ring or tree runs on fewer channels, one of NVLS on all") {
  const auto ring = [](Protocol protocol, Bytes bytes) {
    return channels(kH100, CollectiveOp::all_reduce, Algorithm::ring, protocol, bytes);
  };
  // 512 threads of 64 B, of 8 B for each of eight ranks, 640 of 8 B.
  CHECK(ring(Protocol::simple, 23 * 32_KiB) == 23);
  CHECK(ring(Protocol::simple, 64_MiB) == 24);
  CHECK(ring(Protocol::ll, 5 * 32_KiB) == 5);
  CHECK(ring(Protocol::ll128, 10 * 5_KiB) == 10);
  CHECK(ring(Protocol::simple, Bytes{4}) == 1);
  CHECK(channels(kH100, CollectiveOp::all_reduce, Algorithm::tree, Protocol::ll, 5 * 4_KiB) == 5);
  CHECK(channels(kH100, CollectiveOp::all_reduce, Algorithm::nvls, Protocol::simple, 1_KiB) == 16);
}

TEST_CASE("a shift uses the channels of one peer: two over the network, an eighth among eight") {
  CHECK(pair_channels(kH100, CollectiveOp::shift) == 4);
  CHECK(pair_channels(dgx(Architecture::hopper, 2), CollectiveOp::shift) == 16);
  CHECK(pair_channels(dgx(Architecture::hopper, 8, 4), CollectiveOp::shift) == 1);
  CHECK(pair_channels(dgx(Architecture::hopper, 16, 2), CollectiveOp::shift) == 1);
}

TEST_CASE("a ring of Simple chunks: 8.4 us and 2(n-1) steps of 3.4, n / 2(n-1) of all channels") {
  const Candidate ring = all_reduce(kA100, Algorithm::ring, Protocol::simple);
  CHECK(ring.latency.microseconds() == near(8.4 + 14 * 3.4));
  CHECK(ring.bandwidth.bytes_per_second() == near(240e9 * 8 / 14));
}

TEST_CASE("LL takes half of the channels, and no more than 141 GB/s on Hopper") {
  const Candidate ring = all_reduce(kH100, Algorithm::ring, Protocol::ll);
  CHECK(ring.latency.microseconds() == near(6.6 + 14 * 0.6));
  CHECK(ring.bandwidth.bytes_per_second() == near(141e9 * 8 / 14));
  const Candidate small = all_reduce(dgx(Architecture::ampere, 2), Algorithm::ring, Protocol::ll);
  CHECK(small.bandwidth.bytes_per_second() == near(87.7e9));
}

TEST_CASE("NVLS on eight H100: eight heads of 40 GB/s, 0.85 of them, twice for both directions") {
  CHECK(graph_of(kH100, Algorithm::nvls).channels == 8);
  CHECK(graph_of(kH100, Algorithm::nvls).inside == 40);
  const Candidate nvls = all_reduce(kH100, Algorithm::nvls, Protocol::simple);
  CHECK(nvls.latency.microseconds() == near(25));
  CHECK(nvls.bandwidth.bytes_per_second() == near(8 * 40e9 * 0.85 * 7 / 8 * 2 * 8 / 14));
  CHECK(nvls.channels == 16);
}

TEST_CASE("NVLS has 32 heads at most, and gathers and scatters among no more GPUs") {
  for (const int ranks : {32, 36, 72}) {
    const Communicator rack = dgx(Architecture::blackwell, ranks);
    CHECK(graph_of(rack, Algorithm::nvls).channels == 32);
    CHECK(graph_of(rack, Algorithm::nvls).inside == 20);  // 33 of them in 721.8 GB/s
    CHECK(choice(rack, CollectiveOp::all_reduce, 64_MiB) == "nvls Simple");
  }
  const auto refused = [](int ranks, CollectiveOp op) {
    return refusal(dgx(Architecture::blackwell, ranks), op, Algorithm::nvls);
  };
  CHECK(refused(32, CollectiveOp::all_gather).empty());
  CHECK(refused(72, CollectiveOp::all_reduce).empty());
  CHECK(refused(72, CollectiveOp::reduce_scatter) ==
        "gathers and scatters among 32 GPUs of a node at most, this group has 72");
}

TEST_CASE("a tree corrects its bandwidth by the message's size, below 512 MiB") {
  const auto gigabytes = [](Bytes bytes) {
    return all_reduce(kA100, Algorithm::tree, Protocol::simple, bytes).bandwidth.base() / 1e9;
  };
  const double whole = 240 * 0.92 / 2;
  CHECK(gigabytes(512_MiB) == near(whole));
  CHECK(gigabytes(256_MiB) == near(whole * 0.9));
  CHECK(gigabytes(1_MiB) == near(whole * 0.5));
}

TEST_CASE("between nodes a tree has a channel a NIC, which carries up to twice as much inside") {
  const Communicator two = dgx(Architecture::ampere, 16, 2);
  const Graph tree = graph_of(two, Algorithm::tree);
  CHECK(tree.channels == 16);
  CHECK(tree.inside == 15);   // 30 of 240 / 8, split
  CHECK(tree.between == 12);  // 24 of a NIC of 25, split
  CHECK(all_reduce(two, Algorithm::tree, Protocol::ll).latency.microseconds() ==
        near(6.8 + 2 * (7 * 0.6 + 5)));
}

TEST_CASE("a NIC has no more channels than NCCL looks for, however fast it is") {
  Communicator c = dgx(Architecture::hopper, 2048, 2);
  c.nics = 1024;
  c.nic = c.link = 1e9_GBps;
  CHECK(graph_of(c, Algorithm::ring).channels == 16 * 1024);
  CHECK(all_reduce(c, Algorithm::tree, Protocol::simple).bandwidth.bytes_per_second() > 0);
}

TEST_CASE("a slow plugin counts once a hop, twice with Simple") {
  Communicator efa = dgx(Architecture::ampere, 16, 2);
  efa.network_latency = 75_us;
  CHECK(all_reduce(efa, Algorithm::tree, Protocol::ll).latency.microseconds() ==
        near(6.8 + 2 * (7 * 0.6 + 5 + 75)));
  CHECK(all_reduce(efa, Algorithm::tree, Protocol::simple).latency.microseconds() ==
        near(8.4 + 2 * (7 * 4.0 + 14 + 150)));
}

TEST_CASE("the choice changes with the size") {
  const auto all = CollectiveOp::all_reduce;
  CHECK(choice(kA100, all, 1_MiB) == "ring LL");
  CHECK(choice(kA100, all, 8_MiB) == "ring LL128");
  CHECK(choice(kA100, all, 64_MiB) == "ring Simple");
  // Eight H200 with NCCL 2.27.7 run rings of LL up to 1 MiB and NVLS from 2 MiB on
  // (stas00/ml-engineering network/README.md).
  CHECK(choice(kH100, all, 1_MiB) == "ring LL");
  CHECK(choice(kH100, all, 2_MiB) == "nvls Simple");
  CHECK(choice(dgx(Architecture::hopper, 4), all, 64_MiB) == "ring Simple");
  CHECK(choice(dgx(Architecture::hopper, 5), all, 64_MiB) == "nvls Simple");
  const auto gather = CollectiveOp::all_gather;
  CHECK(choice(kB200, gather, 8_MiB) == "ring LL");
  CHECK(choice(kB200, gather, 16_MiB) == "ring LL128");
  CHECK(choice(kB200, gather, 64_MiB) == "ring Simple");
}

TEST_CASE("two nodes reduce by trees, and by NVLS trees when the message is large") {
  const Communicator two = dgx(Architecture::hopper, 16, 2);
  const auto all = CollectiveOp::all_reduce;
  CHECK(choice(two, all, 64_KiB) == "tree LL");
  CHECK(choice(two, all, 1_MiB) == "tree LL128");
  CHECK(choice(two, all, 64_MiB) == "nvls_tree Simple");
  CHECK(choice(two, CollectiveOp::all_gather, 64_MiB) == "ring Simple");
}

TEST_CASE("one GPU a node gathers with PAT when the message is small") {
  const Communicator sparse = dgx(Architecture::hopper, 16, 16);
  CHECK(choice(sparse, CollectiveOp::all_gather, 16_KiB) == "pat Simple");
  CHECK(choice(sparse, CollectiveOp::all_gather, 1_GiB) == "ring Simple");
  Communicator old = sparse;
  old.version = NcclVersion::v2_20;
  CHECK(choice(old, CollectiveOp::all_gather, 16_KiB) == "ring LL");
}

TEST_CASE("switches that reduce let CollNet and NVLS cross nodes") {
  Communicator sharp = dgx(Architecture::hopper, 32, 4);
  const auto all = CollectiveOp::all_reduce;
  CHECK(refusal(sharp, all, Algorithm::collnet_direct) ==
        "needs switches that reduce: inter_node.sharp: true");
  CHECK_FALSE(refusal(sharp, all, Algorithm::nvls).empty());
  sharp.sharp = true;
  CHECK(refusal(sharp, all, Algorithm::collnet_direct).empty());
  CHECK(refusal(sharp, all, Algorithm::nvls).empty());
  CHECK(choice(sharp, all, 1_GiB) == "nvls Simple");
}

TEST_CASE("what cannot run says what it needs") {
  const auto all = CollectiveOp::all_reduce;
  CHECK(refusal(kA100, all, Algorithm::nvls) == "needs GPUs of Hopper or later");
  CHECK(refusal(dgx(Architecture::hopper, 2), all, Algorithm::nvls) ==
        "needs more than two GPUs of a node, this group has 2");
  CHECK(refusal(kH100, all, Algorithm::nvls_tree) == "needs several nodes, this group lies in one");
  CHECK(refusal(kH100, CollectiveOp::all_gather, Algorithm::tree) == "makes all-reduces alone");
  CHECK(refusal(kH100, CollectiveOp::all_gather, Algorithm::pat) ==
        "needs one GPU a node, this group has 8");
  CHECK(protocol_refusal(kH100, Algorithm::nvls, Protocol::ll) == "has the Simple protocol alone");
}

TEST_CASE("NVLS and its trees send smaller chunks, the less there is to send and the more nodes") {
  const auto turn = [](int nodes, Algorithm algorithm, Bytes bytes) {
    return nvls_turn(dgx(Architecture::hopper, 8 * nodes, nodes), algorithm, bytes) / 128.0;
  };
  // 16 channels of 8 heads: a turn of 128 KiB is 16 MiB, one of 64 KiB 8 MiB.
  CHECK(turn(2, Algorithm::nvls_tree, 64_MiB) == 128_KiB);
  CHECK(turn(2, Algorithm::nvls_tree, 63_MiB) == 64_KiB);
  CHECK(turn(2, Algorithm::nvls_tree, 7_MiB) == 32_KiB);
  CHECK(turn(4, Algorithm::nvls_tree, 1_GiB) == 64_KiB);
  CHECK(turn(4, Algorithm::nvls_tree, 7_MiB) == 32_KiB);
  CHECK(turn(4, Algorithm::nvls, 1_GiB) == 128_KiB);
  CHECK(turn(4, Algorithm::nvls, 1023_MiB) == 64_KiB);
  CHECK(turn(4, Algorithm::nvls, 63_MiB) == 32_KiB);
  CHECK(turn(4, Algorithm::nvls, 7_MiB) == 16_KiB);
}

TEST_CASE("trees of NVLS have chunks of their own on Blackwell, by nodes and adapters") {
  const auto turn = [](int nodes, BytesPerSecond nic, Bytes bytes = 64_GiB) {
    Communicator c = dgx(Architecture::blackwell, 8 * nodes, nodes);
    c.nic = nic;
    return nvls_turn(c, Algorithm::nvls_tree, bytes) / 256.0;  // 32 channels of 8 heads
  };
  CHECK(turn(2, 50_GBps) == 64_KiB);
  CHECK(turn(2, 100_GBps) == 128_KiB);
  CHECK(turn(3, 50_GBps) == 64_KiB);
  CHECK(turn(3, 100_GBps) == 256_KiB);
  CHECK(turn(3, 100_GBps, 1023_MiB) == 128_KiB);  // less than 16 turns of 64 MiB
  CHECK(turn(3, 25_GBps) == 128_KiB);
}

TEST_CASE("rings pass on half of a Simple buffer, and a step of an LL or LL128 one") {
  CHECK(ring_chunk(Protocol::simple) == 2_MiB);
  CHECK(ring_chunk(Protocol::ll128) == Bytes{640.0 * 120 * 8 * 120 / 128});
  CHECK(ring_chunk(Protocol::ll) == 32_KiB);
}

TEST_CASE("older releases choose by older constants") {
  Communicator two = dgx(Architecture::hopper, 16, 2);
  const auto nvls_tree = [&](NcclVersion version) {
    two.version = version;
    return all_reduce(two, Algorithm::nvls_tree, Protocol::simple);
  };
  CHECK(nvls_tree(NcclVersion::v2_30).latency.microseconds() == near(25 + 2 * 20.9));
  CHECK(nvls_tree(NcclVersion::v2_27).latency.microseconds() == near(25 + 2 * 14.0));
  CHECK(nvls_tree(NcclVersion::v2_20).latency.microseconds() == near(23 + 2 * 14.0));
  CHECK(nvls_tree(NcclVersion::v2_27).bandwidth.base() == near(8 * 40e9 * 5 / 6));
  two.version = NcclVersion::v2_20;
  CHECK(all_reduce(two, Algorithm::tree, Protocol::simple).latency.microseconds() ==
        near(2 * (7 * 28.0 + 28)));
}

namespace {

/// DGX-1 with V100, of NCCL 2.4: 12 channels in one node, 8 between nodes of four adapters.
Communicator old(int nodes) {
  Communicator c{.version = NcclVersion::v2_4,
                 .architecture = Architecture::volta,
                 .ranks = 8 * nodes,
                 .nodes = nodes,
                 .nics = 4,
                 .nvswitch = false};
  c.link = 150_GBps;
  c.nic = 12.5_GBps;
  return c;
}

}  // namespace

TEST_CASE("NCCL 2.4 goes by size: trees up to what their fewer hops are worth, LL, then Simple") {
  const auto all = CollectiveOp::all_reduce;
  // Eight nodes of eight channels: 40 and 30 GB/s, 6 us x 63 less 15 us x 3 + 4 us x 7.
  REQUIRE(most_channels(old(8), Algorithm::ring) == 8);
  CHECK(thresholds::of_tree(old(8)).bytes() == near(40e3 * 30e3 / 10e3 * (378 - 73)));
  CHECK(choice(old(8), all, Bytes{36.59e6}) == "tree Simple");
  CHECK(choice(old(8), all, Bytes{36.61e6}) == "ring Simple");
  // Two nodes: a tree has twice the bandwidth. One: there are none.
  CHECK(choice(old(2), all, 1_GiB) == "tree Simple");
  CHECK(thresholds::of_tree(old(1)) == Bytes{0});
  // LL: 8 channels x 256 threads x 64 B x 2 for nodes x 4 for trees, x 8 ranks for rings.
  CHECK(choice(old(2), all, 1_MiB) == "tree LL");
  CHECK(choice(old(2), all, 1_MiB + Bytes{1}) == "tree Simple");
  const double channels_inside = most_channels(old(1), Algorithm::ring);
  CHECK(choice(old(1), all, Bytes{channels_inside * 256 * 64 * 8}) == "ring LL");
  CHECK(choice(old(1), all, Bytes{channels_inside * 256 * 64 * 8 + 1}) == "ring Simple");
  CHECK(choice(old(1), CollectiveOp::all_gather, 64_MiB) == "ring Simple");
}

TEST_CASE("NCCL 2.4 gives LL as many channels as have 8 bytes a thread, Simple all") {
  const auto all = CollectiveOp::all_reduce;
  const auto ring = [&](Protocol protocol, Bytes bytes) {
    return channels(old(1), all, Algorithm::ring, protocol, bytes);
  };
  CHECK(ring(Protocol::ll, Bytes{4}) == 1);
  CHECK(ring(Protocol::ll, Bytes{256.0 * 8 * 8}) == 1);  // 256 threads of 8 B, eight chunks
  CHECK(ring(Protocol::ll, Bytes{256.0 * 8 * 8 * 3}) == 3);
  CHECK(ring(Protocol::simple, Bytes{4}) == most_channels(old(1), Algorithm::ring));
  CHECK(channels(old(2), all, Algorithm::tree, Protocol::ll, Bytes{256.0 * 8 * 3}) == 3);
}

TEST_CASE("NCCL 2.4 has neither LL128 nor algorithms that came later") {
  CHECK(protocol_refusal(old(1), Algorithm::ring, Protocol::ll128) == "has LL128 from NCCL 2.5 on");
  Communicator later = dgx(Architecture::hopper, 16, 2);
  later.version = NcclVersion::v2_4;
  later.sharp = true;
  CHECK(lacking(later, Algorithm::collnet_chain) == "came with NCCL 2.6");
  CHECK(lacking(later, Algorithm::nvls) == "came with NCCL 2.17");
  CHECK(lacking(later, Algorithm::pat) == "came with NCCL 2.23");
}
