// Calls MPI, and does what a lone process needs in its place.
#include "calib/cpu/ranks.hpp"

#include <cstdlib>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <malloc.h>
#include <mpi.h>
#include <sched.h>

namespace stepsim::cpu {
namespace {

/// The elements of one call, because MPI counts by int.
constexpr std::size_t kMost = std::size_t{1} << 30;
/// The exit code where an exception leaves Ranks: 70, a failure, as elsewhere in stepsim.
constexpr int kUnsaid = 70;

void check(int status, const char* call) {
  if (status != MPI_SUCCESS) throw std::runtime_error(std::string(call) + " failed");
}

bool started_by_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

double reduced(double value, MPI_Op op) {
  check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, op, MPI_COMM_WORLD), "MPI_Allreduce");
  return value;
}

/// Keeps each rank to a core of its own, where there are enough: two ranks on one core would spend
/// their time looking for what only the other can send.
void keep_to_one_core(int rank, int size) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < size) return;
  int place = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || place++ != rank) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(core, &own);
    (void)sched_setaffinity(0, sizeof own, &own);  // where it is refused, Linux chooses the core
    return;
  }
}

/// Makes malloc keep freed memory. MPI takes a buffer for each sum. By default malloc gives large
/// buffers back to Linux, and the pages of the next one are cleared anew, which takes longer than
/// to sum them (mallopt(3)).
void keep_freed_memory() {
  (void)mallopt(M_MMAP_MAX, 0);
  (void)mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

int counted(std::size_t count) {
  if (count > kMost) throw std::runtime_error("more than 4 GiB in one message");
  return static_cast<int>(count);
}

}  // namespace

Ranks::Ranks(int& argc, char**& argv) : started_(started_by_mpirun()) {
  if (!started_) return;
  int offered = 0;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &offered), "MPI_Init_thread");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  if (size_ == 1) return;
  keep_freed_memory();
  keep_to_one_core(rank_, size_);
}

Ranks::~Ranks() {
  if (!started_) return;
  if (std::uncaught_exceptions() > 0) give_up(kUnsaid);
  MPI_Finalize();
}

void Ranks::give_up(int code) const {
  if (started_) MPI_Abort(MPI_COMM_WORLD, code);
}

Ranks::Here Ranks::here() const {
  Here here;
  if (!started_) return here;
  MPI_Comm machine = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine),
        "MPI_Comm_split_type");
  check(MPI_Comm_rank(machine, &here.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(machine, &here.size), "MPI_Comm_size");
  check(MPI_Comm_free(&machine), "MPI_Comm_free");
  return here;
}

void Ranks::barrier() const {
  if (started_) check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

double Ranks::largest(double value) const { return started_ ? reduced(value, MPI_MAX) : value; }
double Ranks::smallest(double value) const { return started_ ? reduced(value, MPI_MIN) : value; }
double Ranks::mean(double value) const {
  return started_ ? reduced(value, MPI_SUM) / size_ : value;
}

double Ranks::of_first(double value) const {
  if (started_) check(MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return value;
}

void Ranks::of_first(void* bytes, std::size_t count) const {
  if (started_) check(MPI_Bcast(bytes, counted(count), MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
}

std::string Ranks::version() const {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  text.resize(static_cast<std::size_t>(length));
  return text.substr(0, text.find(','));
}

struct AllReduces::Requests {
  std::vector<MPI_Request> open;
};

AllReduces::AllReduces(const Ranks& ranks)
    : alone_(ranks.size() == 1), requests_(std::make_unique<Requests>()) {}

AllReduces::~AllReduces() = default;

void AllReduces::start(float* values, std::size_t count) {
  if (alone_) return;
  requests_->open.emplace_back();
  check(MPI_Iallreduce(MPI_IN_PLACE, values, counted(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &requests_->open.back()),
        "MPI_Iallreduce");
}

void AllReduces::progress() {
  if (requests_->open.empty()) return;
  int done = 0;
  check(MPI_Testall(static_cast<int>(requests_->open.size()), requests_->open.data(), &done,
                    MPI_STATUSES_IGNORE),
        "MPI_Testall");
  if (done != 0) requests_->open.clear();
}

void AllReduces::finish() {
  if (requests_->open.empty()) return;
  check(MPI_Waitall(static_cast<int>(requests_->open.size()), requests_->open.data(),
                    MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  requests_->open.clear();
}

}  // namespace stepsim::cpu
