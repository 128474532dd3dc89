// What channels are called, and the axes that they belong to.
#include "sim/plan/group/channel.hpp"

#include <iterator>

namespace stepsim {
namespace {

struct ChannelWords {
  const char* name;
  Axis axis;
};

/// In the order of Channel, from `amax` on.
constexpr ChannelWords kWords[] = {
    {"amax", Axis::data},
    {"data", Axis::data},
    {"data gather", Axis::data},
    {"data across", Axis::data},
    {"expert data", Axis::data},
    {"expert gather", Axis::data},
    {"expert across", Axis::data},
    {"model", Axis::pipeline},
    {"embedding", Axis::pipeline},
    {"send forward", Axis::pipeline},
    {"receive forward", Axis::pipeline},
    {"send backward", Axis::pipeline},
    {"receive backward", Axis::pipeline},
    {"send forward up", Axis::pipeline},
    {"receive forward up", Axis::pipeline},
    {"send backward up", Axis::pipeline},
    {"receive backward up", Axis::pipeline},
};
static_assert(kPassAxes + std::size(kWords) == kChannels, "a channel has no words");

ChannelWords words_of(Channel channel) {
  const auto index = static_cast<std::size_t>(channel);
  if (index >= kPassAxes) return kWords[index - kPassAxes];
  const auto axis = static_cast<Axis>(index);
  return {name_of(axis), axis};
}

}  // namespace

Channel send_channel(int stage, int next, int stages, bool forward) {
  const bool around = next == (stage + 1) % stages;
  if (forward) return around ? Channel::send_forward : Channel::send_forward_up;
  return around ? Channel::send_backward : Channel::send_backward_up;
}

const char* name_of(Channel channel) { return words_of(channel).name; }

Axis axis_of(Channel channel) { return words_of(channel).axis; }

}  // namespace stepsim
