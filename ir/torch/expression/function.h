// A name of the expression language: where it is found, its arguments, what it makes.
#pragma once
#include <cstdint>
#include <string_view>

namespace deplo::ir::torch::python {

class Call;
struct Value;

/// Where a function is found; several may be joined by |.
enum Space : std::uint16_t {
  in_torch = 1,            // torch.
  in_functional = 2,       // torch.nn.functional.
  in_nn = 4,               // torch.nn.
  as_method = 8,           // of a tensor, which is the first argument
  of_module = 16,          // of a module, which is the first argument
  in_math = 32,            // math.
  in_python = 64,          // a built-in of Python
  as_prefix = 128,         // an operator before a tensor
  as_infix = 256,          // an operator between two values, one of them a tensor
  stateless_module = 512,  // a module of torch.nn without parameters, which calls the operation: no `run`
  either = in_torch | as_method
};

struct Function {
  std::string_view name;
  unsigned spaces = 0;
  std::string_view signature;  // as Python writes it: "input, dim=None, *, dtype=None"
  Value (*run)(const Call&) = nullptr;
  std::string_view op = {};  // of Torch IR: that of the row which names the function
};

}  // namespace deplo::ir::torch::python
