// The parameters of a kernel as its source declares them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::engine::foreign {

struct DeclaredParameter {
  std::string type;         // of a value or of a pointer's target, without qualifiers: "float4", "unsigned int"
  bool is_pointer = false;  // or an array, or OpenCL's local memory
  bool is_known = false;    // false: the type may be a macro, a typedef or a parameter of a template
};

/// Reads the text, which is not preprocessed. `entry`: without namespaces and template arguments. nullopt: the source
/// has no declaration of the kernel, several different ones, or one that preprocessor directives or macros make.
std::optional<std::vector<DeclaredParameter>> declared_parameters(std::string_view source, std::string_view entry);

}  // namespace deplo::engine::foreign
