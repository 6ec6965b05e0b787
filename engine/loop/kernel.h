// Finds kernels by name: Loop IR text under configs/kernels or in the user's own .loop file, bound to sizes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace deplo::engine {

/// Returns a kernel. `kernel` is the NAME of configs/kernels/NAME.loop or the path of a .loop file. Throws Error:
/// prefixed by `place` if the arguments are wrong (an unknown kernel, an unknown or missing symbol), prefixed by the
/// file if its text is wrong.
ir::Program load_kernel(std::string_view kernel, const ir::Symbols& symbols, std::string_view place);

/// Parses the text of a kernel from a store or a file. Throws Error, prefixed by `place`, unless the text is a
/// well-formed Loop IR program with outputs and with valid names and sizes.
ir::Program parse_kernel(std::string_view text, const ir::Symbols& symbols, const std::string& place);

/// Throws Error, prefixed by `place`, if the buffers together are larger than the memory of any supported device.
void check_size(const ir::Program&, std::string_view place);

/// Returns, for each kernel, the index of the first kernel that is equal to it except for names. It may be the kernel's
/// own index.
std::vector<std::size_t> first_equals(const std::vector<ir::Program>& kernels);

/// Returns a text such as "M=512 N=3584 K=3584".
std::string print(const ir::Symbols& symbols);

}  // namespace deplo::engine
