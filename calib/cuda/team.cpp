// Runs threads, makes communicators and calls NCCL.
#include "calib/cuda/team.hpp"

#include <barrier>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include <fmt/format.h>
#ifdef STEPSIM_NCCL
#include <nccl.h>
#endif

#include "calib/harness/not_offered.hpp"

namespace stepsim::calib::cuda {

struct Team::Meeting {
  explicit Meeting(int size) : barrier(size) {}
  std::barrier<> barrier;
};

void Team::meet() { meeting_->barrier.arrive_and_wait(); }

#ifdef STEPSIM_NCCL

namespace {

void check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess)
    throw CudaFailure(fmt::format("{}: {}", call, ncclGetErrorString(result)));
}

}  // namespace

Team::~Team() {
  for (const auto& [size, team] : communicators_)
    for (ncclComm* communicator : team) (void)ncclCommDestroy(communicator);
}

const std::vector<ncclComm*>& Team::communicators(int size) {
  const auto found = communicators_.find(size);
  if (found != communicators_.end()) return found->second;
  std::vector<int> devices;
  for (int rank = 0; rank < size; ++rank) devices.push_back((first_ + rank) % gpus_);
  std::vector<ncclComm*> team(static_cast<std::size_t>(size));
  check(ncclCommInitAll(team.data(), size, devices.data()), "ncclCommInitAll");
  return communicators_[size] = team;
}

void Team::abort(const std::vector<ncclComm*>& communicators) {
  for (ncclComm* communicator : communicators)
    if (communicator != nullptr) (void)ncclCommAbort(communicator);
}

void enqueue_collective(CollectiveOp op, const Member& member, const DeviceBuffer& send,
                        const DeviceBuffer& receive, std::int64_t bytes, cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(bytes / 2);  // elements of bf16
  const auto size = static_cast<std::size_t>(member.size);
  const std::size_t part = count / size;
  ncclComm* comm = member.communicator;
  switch (op) {
    case CollectiveOp::all_reduce:
      return check(
          ncclAllReduce(send.data(), receive.data(), count, ncclBfloat16, ncclSum, comm, stream),
          "ncclAllReduce");
    case CollectiveOp::all_gather:
      return check(ncclAllGather(send.data(), receive.data(), part, ncclBfloat16, comm, stream),
                   "ncclAllGather");
    case CollectiveOp::reduce_scatter:
      return check(
          ncclReduceScatter(send.data(), receive.data(), part, ncclBfloat16, ncclSum, comm, stream),
          "ncclReduceScatter");
    case CollectiveOp::broadcast:
      return check(ncclBroadcast(send.data(), receive.data(), count, ncclBfloat16, 0, comm, stream),
                   "ncclBroadcast");
    case CollectiveOp::reduce:
      return check(
          ncclReduce(send.data(), receive.data(), count, ncclBfloat16, ncclSum, 0, comm, stream),
          "ncclReduce");
    case CollectiveOp::all_to_all:
      check(ncclGroupStart(), "ncclGroupStart");
      for (std::size_t peer = 0; peer < size; ++peer) {
        const std::size_t place = 2 * peer * part;
        check(
            ncclSend(send.data() + place, part, ncclBfloat16, static_cast<int>(peer), comm, stream),
            "ncclSend");
        check(ncclRecv(receive.data() + place, part, ncclBfloat16, static_cast<int>(peer), comm,
                       stream),
              "ncclRecv");
      }
      return check(ncclGroupEnd(), "ncclGroupEnd");
    case CollectiveOp::shift:
      check(ncclGroupStart(), "ncclGroupStart");
      check(
          ncclSend(send.data(), count, ncclBfloat16, (member.rank + 1) % member.size, comm, stream),
          "ncclSend");
      check(ncclRecv(receive.data(), count, ncclBfloat16,
                     (member.rank + member.size - 1) % member.size, comm, stream),
            "ncclRecv");
      return check(ncclGroupEnd(), "ncclGroupEnd");
  }
}

#else

Team::~Team() = default;
const std::vector<ncclComm*>& Team::communicators(int) { throw NotOffered("built without NCCL"); }
void Team::abort(const std::vector<ncclComm*>&) {}
void enqueue_collective(CollectiveOp, const Member&, const DeviceBuffer&, const DeviceBuffer&,
                        std::int64_t, cudaStream_t) {
  throw NotOffered("built without NCCL");
}

#endif

std::vector<std::vector<double>> Team::run(
    int size, const std::function<std::vector<double>(const Member&)>& work) {
  std::vector<ncclComm*> team(1, nullptr);
  if (size > 1) team = communicators(size);
  meeting_ = std::make_shared<Meeting>(size);
  std::vector<std::vector<double>> results(static_cast<std::size_t>(size));
  std::exception_ptr first_failure;
  std::once_flag failed;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto place = static_cast<std::size_t>(rank);
      try {
        cuda::check(cudaSetDevice((first_ + rank) % gpus_), "cudaSetDevice");
        results[place] = work({rank, size, team[place]});
      } catch (...) {
        std::call_once(failed, [&] {
          first_failure = std::current_exception();
          abort(team);
        });
        meeting_->barrier.arrive_and_drop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (!first_failure) return results;
  communicators_.erase(size);
  std::rethrow_exception(first_failure);
}

}  // namespace stepsim::calib::cuda
