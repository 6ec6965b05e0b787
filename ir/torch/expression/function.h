// A name of the expression language: where it is found, its arguments, what it makes.
#pragma once
#include <cstdint>
#include <string_view>

namespace deplo::ir::torch::python {

class Call;
struct Value;

/// Where a function is found; several may be joined by |.
enum Space : std::uint16_t {
  kTorch = 1,        // torch.
  kFunctional = 2,   // torch.nn.functional.
  kNn = 4,           // torch.nn.
  kMethod = 8,       // of a tensor, which is the first argument
  kModule = 16,      // of a module, which is the first argument
  kMath = 32,        // math.
  kPython = 64,      // a built-in of Python
  kPrefix = 128,     // an operator before a tensor
  kInfix = 256,      // an operator between two values, one of them a tensor
  kStateless = 512,  // a module of torch.nn without parameters, which calls the operation: no `run`
  kBoth = kTorch | kMethod
};

struct Function {
  std::string_view name;
  unsigned spaces = 0;
  std::string_view signature;  // as Python writes it: "input, dim=None, *, dtype=None"
  Value (*run)(const Call&) = nullptr;
  std::string_view op = {};  // of Torch IR: that of the row which names the function
};

}  // namespace deplo::ir::torch::python
