// Which system calls pass, by number: a list of those that pass, for an unknown one may do anything.
#include "sim/process/watched/call_filter.hpp"

#include <cerrno>
#include <cstddef>

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

namespace stepsim {
namespace {

#ifdef __x86_64__
constexpr unsigned kMachine = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kMachine = AUDIT_ARCH_AARCH64;
#endif

/// They have a path, which the watching process looks at.
constexpr int kWatched[] = {
#ifdef __NR_open  // an older generation of calls, which newer machines have not
    __NR_open,    __NR_creat,      __NR_stat,  __NR_lstat,     __NR_access,
    __NR_mkdir,   __NR_unlink,     __NR_rmdir,
#endif
    __NR_openat,  __NR_newfstatat, __NR_statx, __NR_faccessat, __NR_faccessat2,
    __NR_mkdirat, __NR_unlinkat,   __NR_chdir, __NR_execve,
};

/// Scripts expect them to succeed, and what they would change is not looked at.
constexpr int kPretended[] = {
#ifdef __NR_chmod
    __NR_chmod,    __NR_chown,     __NR_lchown,    __NR_rename,    __NR_link,
    __NR_symlink,  __NR_utime,     __NR_utimes,    __NR_futimesat,
#endif
    __NR_fchmod,   __NR_fchmodat,  __NR_fchown,    __NR_fchownat,  __NR_renameat2,
    __NR_renameat, __NR_linkat,    __NR_symlinkat, __NR_utimensat, __NR_setrlimit,
    __NR_fsync,    __NR_fdatasync, __NR_sync,
};

constexpr int kFree[] = {
#ifdef __NR_fork
    __NR_fork,
    __NR_vfork,
    __NR_pipe,
    __NR_dup2,
    __NR_getpgrp,
    __NR_arch_prctl,
    __NR_poll,
    __NR_select,
    __NR_readlink,
    __NR_alarm,
    __NR_pause,
    __NR_time,
#endif
    __NR_read,
    __NR_write,
    __NR_close,
    __NR_fstat,
    __NR_lseek,
    __NR_mmap,
    __NR_mprotect,
    __NR_munmap,
    __NR_brk,
    __NR_mremap,
    __NR_madvise,
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_rt_sigsuspend,
    __NR_rt_sigpending,
    __NR_rt_sigtimedwait,
    __NR_sigaltstack,
    __NR_pread64,
    __NR_readv,
    __NR_writev,
    __NR_pipe2,
    __NR_pselect6,
    __NR_ppoll,
    __NR_sched_yield,
    __NR_sched_getaffinity,
    __NR_dup,
    __NR_dup3,
    __NR_nanosleep,
    __NR_clock_nanosleep,
    __NR_clock_gettime,
    __NR_clock_getres,
    __NR_getpid,
    __NR_getppid,
    __NR_gettid,
    __NR_getuid,
    __NR_geteuid,
    __NR_getgid,
    __NR_getegid,
    __NR_getgroups,
    __NR_getresuid,
    __NR_getresgid,
    __NR_getpgid,
    __NR_getsid,
    __NR_setpgid,
    __NR_setsid,
    __NR_clone,
    __NR_exit,
    __NR_exit_group,
    __NR_wait4,
    __NR_waitid,
    __NR_uname,
    __NR_fcntl,
    __NR_flock,
    __NR_getdents64,
    __NR_getcwd,
    __NR_fchdir,
    __NR_readlinkat,
    __NR_umask,
    __NR_gettimeofday,
    __NR_getrlimit,
    __NR_getrusage,
    __NR_sysinfo,
    __NR_times,
    __NR_getpriority,
    __NR_futex,
    __NR_set_tid_address,
    __NR_set_robust_list,
    __NR_rseq,
    __NR_getrandom,
    __NR_fadvise64,
    __NR_statfs,
    __NR_fstatfs,
    __NR_splice,
    __NR_tee,
    __NR_copy_file_range,
    __NR_setitimer,
    __NR_getitimer,
    __NR_restart_syscall,
    __NR_capget,
    __NR_getxattr,
    __NR_lgetxattr,
    __NR_sendfile,
};

/// What bash and its companions ask of a terminal; the others may write to one.
constexpr unsigned kQuestionsToTerminals[] = {TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD};

class Filter {
 public:
  std::vector<sock_filter> made() {
    load(offsetof(seccomp_data, arch));
    unless_equal(kMachine, SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
    for (const int call : kWatched) if_equal(call, SECCOMP_RET_TRACE);
    for (const int call : kPretended) if_equal(call, SECCOMP_RET_ERRNO);
    for (const int call : kFree) if_equal(call, SECCOMP_RET_ALLOW);
    // glibc does without these two where they are unknown.
    for (const int call : {__NR_clone3, __NR_openat2}) if_equal(call, refused(ENOSYS));
    // A shell that may stand on a connection takes itself for a remote one, and reads ~/.bashrc.
    if_equal(__NR_getpeername, refused(ENOTSOCK));
    add_terminal();
    add_limits();
    end(refused(EPERM));
    return std::move(code_);
  }

 private:
  static unsigned refused(int error) { return SECCOMP_RET_ERRNO | static_cast<unsigned>(error); }
  void add(unsigned code, unsigned value, unsigned char yes = 0, unsigned char no = 0) {
    code_.push_back({static_cast<unsigned short>(code), yes, no, value});
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset)); }
  void end(unsigned answer) { add(BPF_RET | BPF_K, answer); }
  void if_equal(int value, unsigned answer) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(value), 0, 1);
    end(answer);
  }
  void unless_equal(unsigned value, unsigned answer) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    end(answer);
  }
  /// Skips the instructions that `inner` adds for every other call.
  template <class Inner>
  void only_for(int call, Inner inner) {
    const std::size_t jump = code_.size();
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call));
    inner();
    code_[jump].jf = static_cast<unsigned char>(code_.size() - jump - 1);
  }
  void add_terminal() {
    only_for(__NR_ioctl, [&] {
      load(offsetof(seccomp_data, args[1]));
      for (const unsigned question : kQuestionsToTerminals)
        if_equal(static_cast<int>(question), SECCOMP_RET_ALLOW);
      end(refused(ENOTTY));
    });
  }
  /// Limits may be asked for; a new one is taken for set. Its pointer has two halves.
  void add_limits() {
    only_for(__NR_prlimit64, [&] {
      for (const std::size_t half : {0, 4}) {
        load(offsetof(seccomp_data, args[2]) + half);
        unless_equal(0, SECCOMP_RET_ERRNO);
      }
      end(SECCOMP_RET_ALLOW);
    });
  }

  std::vector<sock_filter> code_;
};

}  // namespace

std::vector<sock_filter> call_filter() { return Filter().made(); }

bool install(const std::vector<sock_filter>& filter) {
  const sock_fprog program{static_cast<unsigned short>(filter.size()),
                           const_cast<sock_filter*>(filter.data())};
  // Without it the kernel lets no ordinary user filter; set-user-ID programs then stay ordinary.
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace stepsim
