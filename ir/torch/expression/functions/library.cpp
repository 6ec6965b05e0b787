#include "ir/torch/expression/functions/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numbers>

#include "core/text/nearest.h"
#include "core/text/one_of.h"
#include "core/text/text.h"
#include "ir/torch/operations/operation.h"

namespace deplo::ir::torch::python {
namespace {

const std::vector<Function>& functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> found;
    for (const Operation& operation : operations())
      for (const Function& f : operation.functions)
        if (f.spaces != stateless_module) found.emplace_back(f).op = operation.name;
    for (const Composites& family : composites())
      for (const Function& f : family.functions)
        if (f.spaces != stateless_module) found.push_back(f);
    for (const std::span<const Function> others :
         {random_functions(), number_functions(), sequence_functions(), text_functions(), object_functions(),
          container_functions(), initialisers(), einops_functions()})
      found.insert(found.end(), others.begin(), others.end());
    return found;
  }();
  return all;
}

struct NamedType {
  std::string_view name;
  DType dtype;
};
constexpr std::array other_types =
    std::to_array<std::string_view>({"complex32", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2",
                                     "float8_e4m3fnuz", "float8_e5m2fnuz", "quint8", "qint8"});
constexpr std::array named_types = {
    NamedType{"float32", DType::f32},  NamedType{"float", DType::f32},     NamedType{"float16", DType::f16},
    NamedType{"half", DType::f16},     NamedType{"bfloat16", DType::bf16}, NamedType{"int32", DType::i32},
    NamedType{"int", DType::i32},      NamedType{"int64", DType::i64},     NamedType{"long", DType::i64},
    NamedType{"bool", DType::boolean}, NamedType{"uint8", DType::u8},      NamedType{"int8", DType::i8},
    NamedType{"int16", DType::i16},    NamedType{"short", DType::i16},     NamedType{"float64", DType::f64},
    NamedType{"double", DType::f64}};

std::string type_names() {
  std::vector<std::string> names;
  for (const DType dtype : kernel_dtypes) names.emplace_back(torch_name(dtype));
  return join(names, ", ");
}

struct NamedSpace {
  std::string_view name;
  unsigned functions;
};
constexpr std::array named_spaces = {NamedSpace{"torch", in_torch},
                                     NamedSpace{"torch.nn", in_nn},
                                     NamedSpace{"torch.nn.functional", in_functional},
                                     NamedSpace{"torch.nn.init", in_init},
                                     NamedSpace{"torch.linalg", in_linalg},
                                     NamedSpace{"torch.cuda", in_library},
                                     NamedSpace{"torch.cuda.amp", in_library},
                                     NamedSpace{"torch.cuda.nvtx", in_library},
                                     NamedSpace{"torch.compiler", in_library},
                                     NamedSpace{"torch.onnx", in_library},
                                     NamedSpace{"torch.profiler", in_library},
                                     NamedSpace{"torch.amp", in_amp},
                                     NamedSpace{"torch.special", in_torch | in_special},
                                     NamedSpace{"torch.fft", in_fft},
                                     NamedSpace{"torch.func", in_library},
                                     NamedSpace{"torch.autograd", in_library},
                                     NamedSpace{"torch.distributed", in_library},
                                     NamedSpace{"torch.distributions", in_library},
                                     NamedSpace{"torch.jit", in_library},
                                     NamedSpace{"torch.utils", in_library},
                                     NamedSpace{"torch.utils.checkpoint", in_checkpoint},
                                     NamedSpace{"torch.nn.utils", in_library},
                                     NamedSpace{"torch.nn.utils.parametrizations", in_parametrizations},
                                     NamedSpace{"math", in_math},
                                     NamedSpace{"numpy", in_math | in_numpy},
                                     NamedSpace{"einops", in_einops},
                                     NamedSpace{"einops.layers", in_library},
                                     NamedSpace{"einops.layers.torch", in_einops_layers},
                                     NamedSpace{"collections", in_library},
                                     NamedSpace{"contextlib", in_library},
                                     NamedSpace{"copy", in_library},
                                     NamedSpace{"dataclasses", in_library},
                                     NamedSpace{"functools", in_library},
                                     NamedSpace{"itertools", in_library},
                                     NamedSpace{"logging", in_library},
                                     NamedSpace{"operator", in_operator},
                                     NamedSpace{"os", in_library},
                                     NamedSpace{"types", in_library},
                                     NamedSpace{"typing", in_library},
                                     NamedSpace{"warnings", in_library}};
// Modules whose names have no meaning here. They may be imported, for annotations and the like.
// clang-format off
constexpr std::array opaque_modules = std::to_array<std::string_view>(
    {"__future__", "abc", "argparse", "datetime", "enum", "gc", "glob", "hashlib", "inspect", "io", "json", "numbers",
     "pathlib", "pickle", "pprint", "random", "re", "shutil", "string", "struct", "subprocess", "sys", "tempfile",
     "textwrap", "threading", "time", "traceback", "typing_extensions", "uuid"});
// clang-format on
constexpr std::array opaque_members =
    std::to_array<std::string_view>({"backends", "channels_last", "channels_last_3d", "contiguous_format", "dtype",
                                     "fx", "layout", "legacy_contiguous_format", "preserve_format", "strided"});
// Python's exceptions, which have no meaning here either.
constexpr std::array exceptions =
    std::to_array<std::string_view>({"ArithmeticError",     "AssertionError", "AttributeError",   "BaseException",
                                     "DeprecationWarning",  "Exception",      "FutureWarning",    "ImportError",
                                     "IndexError",          "KeyError",       "LookupError",      "ModuleNotFoundError",
                                     "NotImplementedError", "OSError",        "OverflowError",    "RuntimeError",
                                     "RuntimeWarning",      "StopIteration",  "TypeError",        "UserWarning",
                                     "ValueError",          "Warning",        "ZeroDivisionError"});
// The submodules of torch.nn in which PyTorch defines its modules.
constexpr std::array files_of_modules = std::to_array<std::string_view>(
    {"activation", "batchnorm", "container", "conv", "dropout", "instancenorm", "linear", "loss", "module", "modules",
     "normalization", "padding", "parameter", "pooling", "rnn", "sparse", "transformer", "upsampling"});
constexpr std::array modes =
    std::to_array<std::string_view>({"enable_grad", "inference_mode", "no_grad", "set_grad_enabled"});

Value constant(unsigned space, std::string_view name) {
  if (!(space & (in_torch | in_math))) return {};
  if (name == "pi") return {std::numbers::pi};
  if (name == "e") return {std::numbers::e};
  // The version whose functions docs/expressions.md lists, for texts that ask for a newer one than they need.
  if (name == "__version__" && (space & in_torch)) return {std::string_view("2.15.0")};
  if (name == "tau" && (space & in_math)) return {2 * std::numbers::pi};
  if (name == "inf") return {std::numeric_limits<double>::infinity()};
  if (name == "nan") return {std::numeric_limits<double>::quiet_NaN()};
  const auto* const type = std::ranges::find(named_types, name, &NamedType::name);
  return (space & (in_torch | in_numpy)) && type != named_types.end() ? Value{type->dtype} : Value{};
}

[[noreturn]] void unknown_member(const Namespace& space, std::string_view name) {
  constexpr std::string_view export_instead = "; export the module to a .pt2 file if it has no equivalent";
  std::vector<std::string> known = function_names(functions_of(space.name));
  std::ranges::move(written_names(functions_of(space.name)), std::back_inserter(known));
  if (space.name == "torch.nn")
    for (const ModuleType& m : module_types()) known.emplace_back(m.name);
  const std::string meant = did_you_mean(name, known);
  throw Error(fmt::format("expected a name that {} has (docs/expressions.md), found `{}`{}", space.name, name,
                          meant.empty() ? export_instead : meant));
}

// Returns the parameters of a function without the tensors that come first.
std::string_view without_tensors(std::string_view signature) {
  for (const std::string_view tensor : {"input", "target", "x1", "x2"})
    if (signature.starts_with(tensor)) signature.remove_prefix(std::min(signature.size(), tensor.size() + 2));
  return signature;
}

}  // namespace

unsigned functions_of(std::string_view name) {
  const auto* const s = std::ranges::find(named_spaces, name, &NamedSpace::name);
  CHECK(s != named_spaces.end());
  return s->functions;
}

bool is_mode(std::string_view name) { return is_one_of(name, modes); }

const Function* find_in_place(unsigned spaces, std::string_view name) {
  if (!name.ends_with('_') || name.ends_with("__")) return nullptr;
  const Function* f = find_function(spaces, name.substr(0, name.size() - 1));
  return f && f->signature.starts_with("input") ? f : nullptr;
}

Value find_import(std::string_view module, const std::function<Value(const Namespace&, std::string_view)>& member) {
  const std::string_view root = module.substr(0, module.find('.')), last = module.substr(module.rfind('.') + 1);
  if (is_one_of(root, opaque_modules)) return {Opaque{last}};
  Value found = find_global(root);
  for (const NamedSpace& space : named_spaces)
    if (space.name == root) found = {Namespace{space.name}};
  for (std::size_t at = root.size(); at < module.size() && !found.as<Opaque>();) {
    const std::size_t end = std::min(module.find('.', at + 1), module.size());
    if (!found.as<Namespace>()) break;
    found = member(*found.as<Namespace>(), module.substr(at + 1, end - at - 1));
    at = end;
  }
  if (found.as<Opaque>()) return {Opaque{last}};
  const bool known = found.as<Namespace>() || found.as<Opaque>() || root.size() < module.size();
  if (!known || found.as<Missing>() || (root != module && find_global(root).as<Builtin>()))
    throw Error(fmt::format(
        "expected torch, math, numpy, einops, a module of Python's library or a name in one of them, found {}",
        module));
  return found;
}

std::span<const ModuleType> module_types() {
  static const std::vector<ModuleType> all = [] {
    const std::span<const ModuleType> others = other_modules();
    std::vector<ModuleType> found(others.begin(), others.end());
    const auto add = [&](const Function& f, std::string_view operation) {
      if (f.spaces == stateless_module)
        found.push_back({f.name, f.signature, f.op.empty() ? operation : f.op});
      else if (!f.module.empty())
        found.push_back({f.module, without_tensors(f.signature), f.name});
    };
    for (const Operation& operation : operations())
      for (const Function& f : operation.functions) add(f, operation.name);
    for (const Composites& family : composites())
      for (const Function& f : family.functions) add(f, "");
    return found;
  }();
  return all;
}

const Function* find_function(unsigned spaces, std::string_view name) {
  for (const Function& f : functions())
    if ((f.spaces & spaces) && f.name == name) return &f;
  return nullptr;
}

std::vector<std::string> function_names(unsigned spaces) {
  std::vector<std::string> names;
  for (const Function& f : functions())
    if (f.spaces & spaces) names.emplace_back(f.name);
  return names;
}

const ModuleType* find_module(std::string_view name) {
  const std::span<const ModuleType> all = module_types();
  const auto at = std::ranges::find(all, name, &ModuleType::name);
  return at == all.end() ? nullptr : &*at;
}

Value find_member(const Namespace& space, std::string_view name) {
  const unsigned functions = functions_of(space.name);
  if (const Function* f = find_function(functions, name)) return {Builtin{f, nullptr}};
  if (const Function* f = find_in_place(functions & (in_torch | in_functional), name))
    return {Builtin{f, nullptr, true}};
  if (space.name.starts_with("torch.nn") && is_one_of(name, files_of_modules)) return {Namespace{"torch.nn"}};
  if (space.name == "numpy" && name == "newaxis") return {};
  if (Value v = constant(functions, name); !v.none()) return v;
  for (const NamedSpace& inner : named_spaces)
    if (inner.name == fmt::format("{}.{}", space.name, name)) return {Namespace{inner.name}};
  if (space.name == "torch.nn" && name == "Module") return {ModuleBase{}};
  if (space.name == "torch.nn")
    if (const ModuleType* m = find_module(name)) return {m};
  if (space.name == "torch" && is_one_of(name, other_types))
    throw Error(fmt::format("expected a type that kernels have ({}), found `{}`", type_names(), name));
  if (space.name.starts_with("torch") && is_one_of(name, opaque_members)) return {Opaque{name}};
  if (functions & in_library) return {Opaque{name}};
  unknown_member(space, name);
}

Value find_global(std::string_view name) {
  if (name == "None") return {};
  if (name == "True" || name == "False") return {name == "True"};
  if (name == "F") return {Namespace{"torch.nn.functional"}};
  if (name == "nn") return {Namespace{"torch.nn"}};
  if (name == "torch" || name == "math") return {Namespace{name == "torch" ? "torch" : "math"}};
  if (name == "__name__") return {std::string_view("deplo")};
  if (name == "Ellipsis") return {Dots{}};
  if (name == "NotImplemented") return {Opaque{name}};
  if (is_one_of(name, exceptions)) return {Opaque{name}};
  if (const Function* f = find_function(in_python, name)) return {Builtin{f, nullptr}};
  return {Missing{}};
}

}  // namespace deplo::ir::torch::python
