// What the source of a kernel declares and defines.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::engine::foreign {

struct DeclaredParameter {
  std::string type;  // type of the value, or of the pointer's target, without qualifiers: "float4", "unsigned int"
  bool is_pointer = false;  // true also for an array and for OpenCL's local memory
  bool is_known = false;    // false: the type may be a macro, a typedef or a template parameter
};

/// Returns the parameters of the kernel `entry`. `source` is not preprocessed. `entry` has no namespaces and no
/// template arguments. Returns nullopt if the source does not declare the kernel, declares it in several different
/// ways, or makes the declaration with preprocessor directives or macros.
std::optional<std::vector<DeclaredParameter>> declared_parameters(std::string_view source, std::string_view entry);

/// Returns the template arguments, such as "<float, 4>", of the instances and specializations of the kernel `entry`
/// that the source declares, each once.
std::vector<std::string> template_instances(std::string_view source, std::string_view entry);

/// Returns true if the source declares the kernel `entry` as a template.
bool is_template(std::string_view source, std::string_view entry);

/// Returns the source with extern "C" before the kernel's declaration, so that compiled code has the kernel by its
/// plain name. A source that has extern "C" somewhere stays the same. Returns nullopt if the declaration does not begin
/// with __global__, because then extern "C" may be an error there, such as before `static`.
std::optional<std::string> with_plain_name(std::string_view source, std::string_view entry);

/// Returns the first line that defines the macro `name` outside of all conditions (#if), or 0 if there is none.
std::size_t line_of_define(std::string_view source, std::string_view name);

/// Returns the names that are followed by a parenthesis, among them those of all functions.
std::vector<std::string> names_of_functions(std::string_view source);

}  // namespace deplo::engine::foreign
