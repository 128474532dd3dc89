// Registers and memory of a process that stands at a system call (ptrace(2)).
#include "sim/process/watched/stopped_call.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

namespace stepsim {
namespace {

/// The machine's calling convention: where a call's number and arguments are (syscall(2)).
#ifdef __x86_64__
unsigned long long& argument_of(user_regs_struct& r, int index) {
  const std::array<unsigned long long*, 4> all{&r.rdi, &r.rsi, &r.rdx, &r.r10};
  return *all[static_cast<std::size_t>(index)];
}
std::uint64_t stack_of(const user_regs_struct& r) { return r.rsp; }
#else
unsigned long long& argument_of(user_regs_struct& r, int index) { return r.regs[index]; }
std::uint64_t stack_of(const user_regs_struct& r) { return r.sp; }
#endif

/// What lies below the stack pointer, and yet in use (System V ABI of x86-64, 3.2.2).
constexpr std::uint64_t kRedZone = 128;
constexpr std::size_t kLongestText = 1 << 20, kMostTexts = 20'000, kPage = 4096;

}  // namespace

StoppedCall::StoppedCall(pid_t process) : process_(process) {
  iovec all{&registers_, sizeof registers_};
  ptrace(PTRACE_GETREGSET, process_, NT_PRSTATUS, &all);
  free_end_ = (stack_of(registers_) - 2 * kRedZone) & ~std::uint64_t{15};
}

long StoppedCall::number() const {
#ifdef __x86_64__
  return static_cast<long>(registers_.orig_rax);
#else
  return static_cast<long>(registers_.regs[8]);
#endif
}

std::uint64_t StoppedCall::argument(int index) const {
  auto copy = registers_;
  return argument_of(copy, index);
}

bool StoppedCall::read(std::uint64_t address, void* to, std::size_t bytes) const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the other process
  const iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(process_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

std::optional<std::string> StoppedCall::text_at(std::uint64_t address) const {
  std::string text;
  std::array<char, kPage> part = {};
  while (address != 0 && text.size() < kLongestText) {
    // Never beyond the page: the next one may not be there.
    const std::size_t left = kPage - address % kPage;
    if (!read(address, part.data(), left)) return std::nullopt;
    const auto end = std::find(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(left), 0);
    text.append(part.begin(), end);
    if (end - part.begin() < static_cast<std::ptrdiff_t>(left)) return text;
    address += left;
  }
  return std::nullopt;
}

std::vector<std::string> StoppedCall::texts_at(std::uint64_t address) const {
  std::vector<std::string> texts;
  for (std::uint64_t pointer = 0; address != 0 && texts.size() < kMostTexts; address += 8) {
    if (!read(address, &pointer, sizeof pointer) || pointer == 0) break;
    const auto text = text_at(pointer);
    if (!text) break;
    texts.push_back(*text);
  }
  return texts;
}

/// Its new address; 0 where the stack has no room.
std::uint64_t StoppedCall::pushed(const std::string& bytes) {
  if (bytes.size() > free_end_) return 0;
  const std::uint64_t address = (free_end_ - bytes.size()) & ~std::uint64_t{15};
  const iovec here{const_cast<char*>(bytes.data()), bytes.size()},
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in the other process
      there{reinterpret_cast<void*>(address), bytes.size()};
  if (process_vm_writev(process_, &here, 1, &there, 1, 0) != static_cast<ssize_t>(bytes.size()))
    return 0;
  free_end_ = address;
  return address;
}

void StoppedCall::set_argument(int index, std::uint64_t value) {
  argument_of(registers_, index) = value;
  write_registers();
}

void StoppedCall::write_registers() {
  iovec all{&registers_, sizeof registers_};
  ptrace(PTRACE_SETREGSET, process_, NT_PRSTATUS, &all);
}

bool StoppedCall::replace(int index, const std::string& text) {
  const std::uint64_t address = pushed(text + '\0');
  if (address != 0) set_argument(index, address);
  return address != 0;
}

bool StoppedCall::replace(int index, const std::vector<std::string>& texts) {
  std::vector<std::uint64_t> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(pushed(text + '\0'));
    if (pointers.back() == 0) return false;
  }
  pointers.push_back(0);
  const std::uint64_t address =
      pushed({reinterpret_cast<const char*>(pointers.data()), pointers.size() * 8});
  if (address != 0) set_argument(index, address);
  return address != 0;
}

void StoppedCall::answer(long result) {
#ifdef __x86_64__
  registers_.orig_rax = ~0ULL;
  registers_.rax = static_cast<unsigned long long>(result);
#else
  int none = -1;
  iovec number{&none, sizeof none};
  ptrace(PTRACE_SETREGSET, process_, NT_ARM_SYSTEM_CALL, &number);
  registers_.regs[0] = static_cast<unsigned long long>(result);
#endif
  write_registers();
}

}  // namespace stepsim
