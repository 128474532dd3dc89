// Channels: what the groups of a rank are for.
//
// Each channel is a row of its own on a rank, as each communicator has its own stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/core/parallel_axis.hpp"

namespace stepsim {

enum class Channel : std::uint8_t {
  of_pass,           ///< the first of those along one axis of a pass (channel_along)
  amax = kPassAxes,  ///< tensor, context and data ranks of a stage: they agree on scales of fp8
  data,              ///< all ranks that hold the same dense parameters: data x context; of them
                     ///< those that share one copy, where there are several (shard_degree)
  data_gather,       ///< the ranks of `data`, on a second stream (parameter gathers)
  data_across,       ///< ranks that hold the same shard of those copies
  expert_data,       ///< ranks that hold the same experts; of them those that share one copy
  expert_gather,     ///< the ranks of `expert_data`, on a second stream
  expert_across,     ///< ranks that hold the same shard of the same experts
  model,             ///< all tensor and pipeline ranks of one replica (gradient norm)
  embedding,         ///< first and last stage, where both hold the word embedding
  // From stage to stage around the pipeline: an activation to the next, its gradient back.
  send_forward,
  receive_forward,
  send_backward,
  receive_backward,
  // From stage to stage against that direction, for parts of the model that lie the other way
  // round.
  send_forward_up,
  receive_forward_up,
  send_backward_up,
  receive_backward_up,
  count_
};
inline constexpr std::size_t kChannels = static_cast<std::size_t>(Channel::count_);
/// Channels of collectives; those behind them are pairs of stages.
inline constexpr std::size_t kCollectiveChannels = static_cast<std::size_t>(Channel::send_forward);
inline constexpr std::size_t kTransferChannels = kChannels - kCollectiveChannels;

/// The channel of a pass's operations along that axis. REQUIRES: an axis before Axis::data.
constexpr Channel channel_along(Axis axis) { return static_cast<Channel>(axis); }

/// Whether the channel is one between two stages. Those are numbered from 0; senders are even,
/// their receivers one more.
constexpr bool is_transfer(Channel channel) { return channel >= Channel::send_forward; }
constexpr std::size_t transfer_index(Channel channel) {
  return static_cast<std::size_t>(channel) - kCollectiveChannels;
}
constexpr Channel transfer_channel(std::size_t index) {
  return static_cast<Channel>(kCollectiveChannels + index);
}
constexpr bool sends(Channel channel) {
  return is_transfer(channel) && transfer_index(channel) % 2 == 0;
}
/// The channel at the other end of a sender's.
constexpr Channel receiver_of(Channel send) { return transfer_channel(transfer_index(send) + 1); }
/// The channel on which `stage` sends activations to the stage with the next part, or that one
/// sends their gradients back.
Channel send_channel(int stage, int next, int stages, bool forward);

/// Whether all its ranks hold the same parameters.
constexpr bool is_among_holders(Channel channel) {
  return channel >= Channel::data && channel <= Channel::expert_across;
}

const char* name_of(Channel channel);

/// The axis that a report counts the channel's traffic under.
Axis axis_of(Channel channel);

}  // namespace stepsim
