// Kernels by name: Loop IR text under configs/kernels, or the user's own .loop file, bound to sizes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/program.h"

namespace deplo::engine {

/// `kernel` names configs/kernels/NAME.loop or is the path of a .loop file. Throws Error, prefixed by `place` where the
/// fault is the caller's (an unknown kernel, a symbol too many or too few), by the file where it is the text's.
ir::Program load_kernel(std::string_view kernel, const ir::Symbols& symbols, std::string_view place);

/// A kernel's text, as a store or a file has it. Throws Error, prefixed by `place`, unless it is a well-formed Loop IR
/// program with outputs, of names and sizes that there can be.
ir::Program parse_kernel(std::string_view text, const ir::Symbols& symbols, const std::string& place);

/// Throws Error, prefixed by `place`, where the buffers are larger than any device here holds.
void check_size(const ir::Program&, std::string_view place);

/// "M=512 N=3584 K=3584"
std::string print(const ir::Symbols& symbols);

}  // namespace deplo::engine
