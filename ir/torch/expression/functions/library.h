// The part of PyTorch that the language knows: functions of operations (operations/operation.h), other functions,
// modules.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/expression/call.h"

namespace deplo::ir::torch::python {

/// A module of torch.nn. The arguments of its constructor become attributes, and `build` adds parameters. A call of the
/// module calls `function` with the input and with the attributes that are among its arguments.
struct ModuleType {
  std::string_view name;
  std::string_view signature;
  std::string_view function;                      // empty for Sequential and ModuleList, which hold other modules
  void (*build)(const Call&, Object&) = nullptr;  // may be null
};

// Functions and modules that belong to no single operation.
std::span<const Function> random_functions();
std::span<const Function> number_functions();
std::span<const ModuleType> other_modules();

std::span<const ModuleType> module_types();

const Function* find_function(unsigned spaces, std::string_view name);  // nullptr: none
const ModuleType* find_module(std::string_view name);
/// `object.name` of a namespace. Throws Error with the nearest name if there is no such member.
Value find_member(const Namespace&, std::string_view name);
/// The meaning of a name that the text does not define; Missing if it has none.
Value find_global(std::string_view name);
std::vector<std::string> function_names(unsigned spaces);

}  // namespace deplo::ir::torch::python
