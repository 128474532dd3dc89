// Reads the few members of Kineto's document that matter here.
#include "sim/recording/kineto/kineto_metadata.hpp"

#include <limits>

#include <simdjson.h>

namespace stepsim {
namespace {

namespace dom = simdjson::dom;

/// The latest base that leaves room for a century of events.
constexpr Nanoseconds kLatestBase = std::numeric_limits<Nanoseconds>::max() / 2;

std::optional<int> small_number(dom::element value) {
  std::int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS || number < 0 || number > 100'000'000)
    return std::nullopt;
  return static_cast<int>(number);
}

void read_devices(dom::element list, std::map<std::int64_t, KinetoDevice>& devices) {
  dom::array items;
  if (list.get(items) != simdjson::SUCCESS) return;
  for (const dom::element device : items) {
    std::int64_t id = 0;
    std::string_view name;
    if (device["id"].get(id) != simdjson::SUCCESS || device["name"].get(name) != simdjson::SUCCESS)
      continue;
    std::uint64_t memory = 0;
    if (device["totalGlobalMem"].get(memory) != simdjson::SUCCESS) memory = 0;
    dom::element sms;
    const bool has_sms = device["numSms"].get(sms) == simdjson::SUCCESS;
    devices.emplace(id, KinetoDevice{std::string(name), static_cast<double>(memory),
                                     has_sms ? small_number(sms).value_or(0) : 0});
  }
}

void read_distributed(dom::element info, KinetoMetadata& metadata) {
  dom::element value;
  if (info["rank"].get(value) == simdjson::SUCCESS) metadata.rank = small_number(value);
  if (info["world_size"].get(value) == simdjson::SUCCESS) metadata.world_size = small_number(value);
  std::string_view backend;
  if (info["backend"].get(backend) == simdjson::SUCCESS) metadata.backend = backend;
}

}  // namespace

void KinetoMetadata::add(std::string_view key, std::string_view text) {
  members.insert(std::string(key));
  dom::parser parser;
  dom::element value;
  if (parser.parse(text.data(), text.size()).get(value) != simdjson::SUCCESS) return;
  const auto is_on = [&] { return small_number(value).value_or(0) > 0; };
  if (key == "deviceProperties") read_devices(value, devices);
  if (key == "distributedInfo") read_distributed(value, *this);
  if (key == "with_stack") has_stacks = is_on();
  if (key == "record_shapes") has_shapes = is_on();
  if (key == "profile_memory") has_memory = is_on();
  std::int64_t number = 0;
  if (key == "baseTimeNanoseconds" && value.get(number) == simdjson::SUCCESS && number >= 0 &&
      number < kLatestBase)
    base = number;
}

}  // namespace stepsim
