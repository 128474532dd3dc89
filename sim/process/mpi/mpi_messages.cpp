// MPI. The only file of the program that sees it.
#include <mpi.h>

#include "sim/process/messages.hpp"

namespace stepsim {
namespace {

class MpiMessages final : public Messages {
 public:
  MpiMessages() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, int tag, const std::string& text) override {
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, tag, MPI_COMM_WORLD);
  }

  void send_to_any(int to, int tag) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(nullptr, 0, MPI_CHAR, to, tag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }

  std::optional<Message> heard() override {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) return std::nullopt;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    Message message{status.MPI_SOURCE, status.MPI_TAG,
                    std::string(static_cast<std::size_t>(length), '\0')};
    MPI_Recv(message.text.data(), length, MPI_CHAR, message.rank, message.tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return message;
  }

  void leave() override { MPI_Finalize(); }

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace
}  // namespace stepsim

extern "C" stepsim::Messages* stepsim_join_others() { return new stepsim::MpiMessages(); }
