// Standard streams that whoever started the program had closed.
#pragma once

namespace stepsim {

/// Opens those of the descriptors 0 to 2 that are closed, on the null device. A file that is opened
/// later would become standard output otherwise, and what is printed would be written into it.
/// They are opened the wrong way round (input for writing, outputs for reading), so that whoever
/// uses them still fails as with a closed one. Has to be called before anything opens a file.
void open_standard_streams();

}  // namespace stepsim
