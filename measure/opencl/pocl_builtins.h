// Declares the functions of OpenCL C that a source calls, in place of all that there are. PoCL's header has 18,000
// lines of declarations, which Clang reads in two thirds of the time of a small kernel's build (docs/performance.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace deplo::measure::opencl {

/// The option of a build that leaves out Clang's `opencl-c.h`: what guards it against a second inclusion.
inline constexpr const char* without_header = "-D_OPENCL_H_";

/// To stand before a source of ours in a program with this option: each overload of the functions that the source
/// calls, with the attributes of Clang's header, so that the machine code is the same. nullopt: it calls one that is
/// not known here.
std::optional<std::string> builtins_of(std::string_view source);

}  // namespace deplo::measure::opencl
