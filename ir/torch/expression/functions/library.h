// What the language knows of PyTorch: tables of functions and module types, one line each.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/torch/expression/call.h"

namespace deplo::ir::torch::python {

/// Where a function is found; several may be joined by |.
enum Space : std::uint8_t {
  kTorch = 1,       // torch.
  kFunctional = 2,  // torch.nn.functional.
  kNn = 4,          // torch.nn.
  kMethod = 8,      // of a tensor, which is the first argument
  kModule = 16,     // of a module, which is the first argument
  kMath = 32,       // math.
  kPython = 64,     // a built-in of Python
};

struct Function {
  std::string_view name;
  unsigned spaces = 0;
  std::string_view signature;
  Value (*run)(const Call&) = nullptr;
  std::string_view op = {};  // of ops.h, where it is not the name
};

/// A module of torch.nn: its constructor's arguments become attributes, `build` adds parameters; a call passes the
/// input and the attributes that `function` has arguments for.
struct ModuleType {
  std::string_view name;
  std::string_view signature;
  std::string_view function;  // empty: Sequential and ModuleList, which hold others
  void (*build)(const Call&, Object&) = nullptr;
};

std::span<const Function> elementwise_functions();
std::span<const Function> reduction_functions();
std::span<const Function> shape_functions();
std::span<const Function> network_functions();
std::span<const Function> creation_functions();
std::span<const Function> number_functions();
std::span<const ModuleType> module_types();

const Function* find_function(unsigned spaces, std::string_view name);  // nullptr: none
const ModuleType* find_module(std::string_view name);
/// `object.name` where the object is a namespace; throws Error naming what is near.
Value find_member(const Namespace&, std::string_view name);
/// What a name means that the text does not define; Missing where it means nothing.
Value find_global(std::string_view name);
std::vector<std::string> function_names(unsigned spaces);

}  // namespace deplo::ir::torch::python
