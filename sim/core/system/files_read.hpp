// The files that this run has read, so that nothing is written over them.
#pragma once

#include <string>

#include <sys/stat.h>

namespace stepsim {

/// Remembers, for the whole process, a file that is read: by device and inode, so that links and
/// relative paths lead to the same one. What is no regular file loses nothing and is left out.
void note_read(const struct stat& file);
/// Remembers the file to which `path` leads, if there is one.
void note_read(const std::string& path);

/// Forgets them all: what follows in this process is another run.
void forget_reads();

/// Whether the file to which `path` leads has been read.
bool was_read(const std::string& path);

}  // namespace stepsim
