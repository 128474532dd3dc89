// Files of sweeps with bytes that are not what was written: a mistake of the user's, or not noticed.
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/store/merge_sweeps.hpp"
#include "sim/store/sweep_store.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

constexpr int kDamages = 400;

SweepRecord record_of(const std::string& identity) {
  SweepAxis axis{.paths = {"training.micro_batch"}, .values = {}, .place = {}};
  for (int value = 0; value < 40; ++value) axis.values.push_back({{std::to_string(value)}, {}, {}});
  return {.identity = identity,
          .inputs = "profiles",
          .name = "mine",
          .file = "mine.yaml",
          .axes = {axis},
          .points = 40,
          .objective = "step_time"};
}

SweepPoint point_of(std::int64_t point) {
  if (point % 5 == 4) return {point, {PointState::refused, "does not divide", {}}, "", "build"};
  const PointNumbers numbers{.step = Seconds{1.0 + static_cast<double>(point)}, .gpus = 8};
  return {point, {PointState::ok, "", numbers}, fmt::format("scenario {}", point / 2), "build"};
}

/// The bytes of a file with two sweeps.
std::string sound_file(const TemporaryFolder& folder) {
  {
    SweepStore store(folder.file("sound.db"));
    for (const char* identity : {"first", "second"}) {
      store.choose(record_of(identity), true);
      for (std::int64_t point = 0; point < 40; ++point) store.add(point_of(point));
      store.flush();
    }
  }
  std::ifstream file(folder.file("sound.db"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A byte or a run of them is another, or the end is missing; most of it where SQLite keeps what it
/// needs to find the rest.
std::string damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t most) { return random() % most; };
  const std::size_t kind = below(10);
  if (kind == 0) return bytes.substr(0, below(bytes.size()));
  constexpr std::size_t kPage = 4096, kHead = 128;
  const std::size_t page = below(bytes.size() / kPage) * kPage;
  const std::size_t first = kind < 6 ? page + below(kHead) : below(bytes.size());
  const std::size_t size = kind % 2 == 0 ? 1 : 1 + below(24);
  for (std::size_t at = first; at < std::min(first + size, bytes.size()); ++at)
    bytes[at] = static_cast<char>(random());
  return bytes;
}

void read_all(SweepStore& store) {
  store.count();
  store.count_alike();
  store.builds();
  store.work();
  store.examples();
  store.best({.column = "step_time_s", .is_less_better = true}, 5);
  store.each([](const SweepPoint&) {});
}

/// Whether it succeeds. A UserError with the file's name is how it may fail; all else is passed on.
bool is_fine(const std::function<void()>& use) {
  try {
    use();
    return true;
  } catch (const UserError& error) {
    CHECK(std::string(error.what()).find(".db'") != std::string::npos);
    return false;
  }
}

}  // namespace

TEST_CASE("a damaged file of sweeps is a user's error, wherever it is damaged") {
  const TemporaryFolder folder;
  const std::string sound = sound_file(folder), path = folder.file("a.db");
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < kDamages; ++i) {
    CAPTURE(i);
    const std::string bytes = damaged(sound, random);
    const auto write = [&] { std::ofstream(path, std::ios::binary) << bytes; };
    write();
    const bool can_read = is_fine([&] {
      SweepStore store = SweepStore::reader(path);
      for (const SweepRecord& record : store.sweeps()) {
        store.look_at(record);
        read_all(store);
      }
    });
    // Writing waits for the disk: each damage is met by one of both.
    const bool merges = i % 2 == 0;
    const bool can_write = is_fine([&] {
      if (merges) return (void)merge_sweeps(folder.file("all.db"), {path}, true);
      SweepStore store(path);
      store.choose(record_of("first"), i % 4 == 1);
      store.add(point_of(7));
      store.flush();
      read_all(store);
    });
    std::filesystem::remove(folder.file("all.db"));
    for (const char* journal : {"-journal", "-wal", "-shm"})
      std::filesystem::remove(path + journal);
    std::filesystem::remove(path);
    refused += can_read && can_write ? 0 : 1;
  }
  CHECK(refused > kDamages / 10);
  CHECK(refused < kDamages);
}
