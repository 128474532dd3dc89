// Crashes of libraries that got no memory, told from others.
#pragma once

namespace stepsim {

/// Whether this process gets no more memory: a mapping as large as a stack of SimGrid is not to be
/// had. May be called in a signal's handler.
bool is_out_of_memory();

/// Ends the process with that exit code and the text on standard error where it is ended by an
/// abort or a null pointer while it gets no more memory: SimGrid and libc do so where a program
/// would throw std::bad_alloc. Other crashes stay what they are. The text has to live as long.
void end_when_out_of_memory(const char* text, int code);

}  // namespace stepsim
