// The part of PyTorch that the language supports: functions of operations (operations/operation.h), other functions,
// and modules.
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
std::span<const Function> text_functions();
std::span<const Function> object_functions();
std::span<const Function> container_functions();
std::span<const Function> initialisers();
std::span<const Function> einops_functions();
std::span<const ModuleType> other_modules();

std::span<const ModuleType> module_types();
/// Adds the modules of the argument `modules`, a dict, to a module that holds others.
void add_named(const Call&, Object&, const Dict& modules);

const Function* find_function(unsigned spaces, std::string_view name);  // nullptr if there is none
/// Returns the function whose result replaces its first argument under this name, such as relu for "relu_". Returns
/// nullptr if there is none.
const Function* find_in_place(unsigned spaces, std::string_view name);
/// Returns the value of `import a.b`. `member` finds the members of namespaces. Throws Error if the module is unknown.
Value find_import(std::string_view module, const std::function<Value(const Namespace&, std::string_view)>& member);
/// The texts of the definitions that are written in the language itself.
std::string_view written_text();
std::string_view written_library_text();
std::string_view written_functions_text();
std::string_view written_complex_text();
std::string_view written_fourier_text();
std::string_view written_modules_text();
std::string_view written_program_text();
std::string_view written_losses_text();
std::string_view written_distributions_text();
/// Returns the name of the definition to which `name` refers in these namespaces, or "" if there is none.
std::string written_name(unsigned spaces, std::string_view name);
std::vector<std::string> written_names(unsigned spaces);
/// Returns the flags of a namespace's functions, such as in_functional for `torch.nn.functional`.
unsigned functions_of(std::string_view space);
/// Whether a function sets a mode of PyTorch that has no effect here, such as no_grad.
bool is_mode(std::string_view name);
const ModuleType* find_module(std::string_view name);
/// Returns the member `name` of a namespace. Throws Error with the nearest name if there is no such member.
Value find_member(const Namespace&, std::string_view name);
/// Returns the value of a name that the text does not define, or Missing if the name is unknown.
Value find_global(std::string_view name);
std::vector<std::string> function_names(unsigned spaces);

}  // namespace deplo::ir::torch::python
