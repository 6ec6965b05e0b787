// Kernels by name: Loop IR text under configs/kernels, or the user's own .loop file, bound to sizes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/program.h"

namespace deplo::engine {

/// `kernel` names configs/kernels/NAME.loop or is the path of a .loop file. Throws Error: prefixed by `place` if the
/// caller is wrong (an unknown kernel, an unknown or missing symbol), prefixed by the file if the text is wrong.
ir::Program load_kernel(std::string_view kernel, const ir::Symbols& symbols, std::string_view place);

/// Parses a kernel's text from a store or a file. Throws Error, prefixed by `place`, unless it is a well-formed Loop IR
/// program with outputs and with valid names and sizes.
ir::Program parse_kernel(std::string_view text, const ir::Symbols& symbols, const std::string& place);

/// Throws Error, prefixed by `place`, if the buffers together are larger than any supported device holds.
void check_size(const ir::Program&, std::string_view place);

/// "M=512 N=3584 K=3584"
std::string print(const ir::Symbols& symbols);

}  // namespace deplo::engine
