// Declares only those functions of OpenCL C that a source calls. PoCL's header declares all of them in 18,000 lines,
// and reading it takes Clang two thirds of the build time of a small kernel (docs/performance.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace deplo::measure::opencl {

/// A build option that leaves out Clang's `opencl-c.h`: it defines the macro that guards the header against a second
/// inclusion.
inline constexpr const char* without_header = "-D_OPENCL_H_";

/// Returns text to put in front of a source of deplo's that is built with this option: each overload of the functions
/// that the source calls, with the attributes of Clang's header, so that the machine code is the same. Returns nullopt
/// if the source calls a function that is not known here.
std::optional<std::string> builtins_of(std::string_view source);

}  // namespace deplo::measure::opencl
