// What the language knows of PyTorch: the functions of the operations (operations/operation.h), others, and modules.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/expression/call.h"

namespace deplo::ir::torch::python {

/// A module of torch.nn: its constructor's arguments become attributes, `build` adds parameters; a call passes the
/// input and the attributes that `function` has arguments for.
struct ModuleType {
  std::string_view name;
  std::string_view signature;
  std::string_view function;                      // empty: Sequential and ModuleList, which hold others
  void (*build)(const Call&, Object&) = nullptr;  // may be null
};

// Of no operation.
std::span<const Function> random_functions();
std::span<const Function> number_functions();
std::span<const ModuleType> other_modules();

std::span<const ModuleType> module_types();

const Function* find_function(unsigned spaces, std::string_view name);  // nullptr: none
const ModuleType* find_module(std::string_view name);
/// `object.name` where the object is a namespace; throws Error naming what is near.
Value find_member(const Namespace&, std::string_view name);
/// What a name means that the text does not define; Missing where it means nothing.
Value find_global(std::string_view name);
std::vector<std::string> function_names(unsigned spaces);

}  // namespace deplo::ir::torch::python
