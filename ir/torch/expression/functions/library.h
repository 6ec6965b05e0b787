// The part of PyTorch that the language knows: functions of operations (operations/operation.h), other functions,
// modules.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/expression/values/call.h"

namespace deplo::ir::torch::python {

// Functions and modules that belong to no single operation.
std::span<const Function> random_functions();
std::span<const Function> number_functions();
std::span<const Function> sequence_functions();
std::span<const Function> object_functions();
std::span<const Function> container_functions();
std::span<const Function> initialisers();
std::span<const Function> einops_functions();
std::span<const ModuleType> other_modules();

std::span<const ModuleType> module_types();

const Function* find_function(unsigned spaces, std::string_view name);  // nullptr: none
/// The function whose result replaces its first argument under this name: relu for "relu_". nullptr: none.
const Function* find_in_place(unsigned spaces, std::string_view name);
/// The meaning of `import a.b`, by the members that `member` finds. Throws Error if it has none.
Value find_import(std::string_view module, const std::function<Value(const Namespace&, std::string_view)>& member);
/// Definitions in the language itself, and whether a namespace has one of their names.
std::string_view written_text();
std::string_view written_library_text();
std::string_view written_functions_text();
std::string_view written_modules_text();
std::string_view written_losses_text();
/// The name of the definition that a namespace has under a name; empty: none.
std::string_view written_name(std::string_view space, std::string_view name);
bool is_written(unsigned spaces, std::string_view name);
std::vector<std::string> written_names(unsigned spaces);
/// The functions of a namespace: those of `torch.nn.functional` are in_functional.
unsigned functions_of(std::string_view space);
/// Whether a function gives a mode of PyTorch without a meaning here, such as no_grad.
bool is_mode(std::string_view name);
const ModuleType* find_module(std::string_view name);
/// `object.name` of a namespace. Throws Error with the nearest name if there is no such member.
Value find_member(const Namespace&, std::string_view name);
/// The meaning of a name that the text does not define; Missing if it has none.
Value find_global(std::string_view name);
std::vector<std::string> function_names(unsigned spaces);

}  // namespace deplo::ir::torch::python
