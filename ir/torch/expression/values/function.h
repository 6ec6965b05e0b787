// Functions and modules of PyTorch that the expression language has: their names, their arguments, their
// implementation.
#pragma once
#include <cstdint>
#include <string_view>

namespace deplo::ir::torch::python {

class Call;
struct Object;
struct Value;

/// The namespaces in which the name of a function is found. Values may be combined by |.
enum Space : std::uint32_t {
  in_torch = 1,                   // torch.
  in_functional = 2,              // torch.nn.functional.
  in_nn = 4,                      // torch.nn.
  as_method = 8,                  // a method of a tensor, which is the first argument
  of_module = 16,                 // a method of a module, which is the first argument
  in_math = 32,                   // math.
  in_python = 64,                 // a built-in of Python
  as_prefix = 128,                // a prefix operator of a tensor
  as_infix = 256,                 // an infix operator of two values, at least one of them a tensor
  stateless_module = 512,         // a module of torch.nn without parameters, which calls `op`; it has no `run`
  of_modules_only = 1024,         // a function that only modules of torch.nn call; PyTorch has no function of this name
  of_list = 2048,                 // a method of a list or a tuple, which is the first argument
  of_dict = 4096,                 // a method of a dict
  of_text = 8192,                 // a method of a string
  in_init = 16384,                // torch.nn.init.
  in_einops = 32768,              // einops.
  in_library = 65536,             // Python's library: functools, itertools, collections, copy
  in_linalg = 131072,             // torch.linalg.
  in_checkpoint = 1 << 18,        // torch.utils.checkpoint.
  in_parametrizations = 1 << 19,  // torch.nn.utils.parametrizations.
  in_einops_layers = 1 << 20,     // einops.layers.torch.
  in_special = 1 << 22,           // torch.special., in addition to the functions of in_torch
  in_numpy = 1 << 21,             // numpy., in addition to the functions of in_math
  in_fft = 1 << 23,               // torch.fft.
  of_set = 1 << 24,               // a method of a set
  in_amp = 1 << 25,               // torch.amp.
  in_operator = 1 << 26,          // operator.
  of_holder = 1 << 27,            // a method of a module that holds others
  either = in_torch | as_method
};

struct Function {
  std::string_view name;
  unsigned spaces = 0;
  std::string_view signature;  // written as in Python: "input, dim=None, *, dtype=None"
  Value (*run)(const Call&) = nullptr;
  // The module of torch.nn without parameters that calls this function. Its arguments are the function's without the
  // tensors that come first. A module with other arguments has a row of its own.
  std::string_view module = {};
  std::string_view op = {};  // the Torch IR operation whose row lists this function
};

/// A module of torch.nn. The arguments of its constructor become attributes, and `build` adds parameters. A call of the
/// module calls `function` with the input and with the attributes that are among its arguments.
struct ModuleType {
  std::string_view name;
  std::string_view signature;
  std::string_view function;                      // empty for Sequential and others that hold modules or parameters
  void (*build)(const Call&, Object&) = nullptr;  // may be null
};

}  // namespace deplo::ir::torch::python
