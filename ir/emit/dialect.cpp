#include "ir/emit/dialect.h"

#include <fmt/format.h>

#include <cmath>

#include "core/error.h"

namespace deplo::ir {

const Speller& speller(const Target& target) {
  // On a CPU 64-bit indices let the compiler fold offsets into addressing modes; 32-bit ones cost a sign extension per
  // access (docs/performance.md). On GPUs 64-bit integer arithmetic is the slower one.
  static constexpr Speller opencl_cpu = {"long",
                                         "__global const",
                                         "__global",
                                         "__local",
                                         "barrier(CLK_LOCAL_MEM_FENCE);",
                                         "get_group_id(0)",
                                         "get_local_id(0)",
                                         true};
  static constexpr Speller opencl_gpu = {"int",
                                         "__global const",
                                         "__global",
                                         "__local",
                                         "barrier(CLK_LOCAL_MEM_FENCE);",
                                         "get_group_id(0)",
                                         "get_local_id(0)",
                                         true};
  static constexpr Speller cuda = {"int",        "const",       "",   "__shared__", "__syncthreads();",
                                   "blockIdx.x", "threadIdx.x", false};
  if (target.dialect == Dialect::cuda) return cuda;
  return target.cpu ? opencl_cpu : opencl_gpu;
}

std::string type_name(Type type, Dialect dialect) {
  CHECK(type.dtype == DType::f32);
  return type.lanes == 1 || dialect == Dialect::cuda ? "float" : fmt::format("float{}", type.lanes);
}

std::string literal(double value, Dialect dialect) {
  const std::string_view infinity = dialect == Dialect::cuda ? "__int_as_float(0x7f800000)" : "INFINITY";
  if (std::isinf(value)) return fmt::format("{}{}", value > 0 ? "" : "-", infinity);
  std::string text = fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

namespace {

std::string infix(std::string_view op, const std::vector<std::string>& args) {
  return fmt::format("{} {} {}", args[0], op, args[1]);
}

// OpenCL overloads one name for float and vectors; CUDA's float functions end in f.
std::string function(std::string_view name, const std::vector<std::string>& args, Dialect dialect) {
  return fmt::format("{}{}({})", name, dialect == Dialect::cuda ? "f" : "", fmt::join(args, ", "));
}

std::string fold_lanes(Op op, const std::string& vector, Dialect dialect, int lanes) {
  // Halves against halves, as a tree: fewer dependent operations than lane by lane.
  std::vector<std::string> parts;
  for (int i = 0; i < lanes; ++i)
    parts.push_back(dialect == Dialect::cuda ? fmt::format("{}_{}", vector, i) : fmt::format("{}.s{:x}", vector, i));
  while (parts.size() > 1) {
    std::vector<std::string> next;
    for (std::size_t i = 0; i < parts.size() / 2; ++i)
      next.push_back("(" + call(op, {parts[i], parts[i + parts.size() / 2]}, dialect, 1) + ")");
    parts = std::move(next);
  }
  return parts[0];
}

}  // namespace

std::string call(Op op, const std::vector<std::string>& args, Dialect dialect, int lanes) {
  const auto f = [&](std::string_view name) { return function(name, args, dialect); };
  switch (op) {
    case Op::copy:
      return args[0];
    case Op::negative:
      return "-" + args[0];
    case Op::reciprocal:
      return fmt::format("1.0f / {}", args[0]);
    case Op::exp:
      return f("exp");
    case Op::log:
      return f("log");
    case Op::sqrt:
      return f("sqrt");
    case Op::rsqrt:
      return f("rsqrt");
    case Op::tanh:
      return f("tanh");
    case Op::sigmoid:
      return fmt::format("1.0f / (1.0f + {})", function("exp", {"-" + args[0]}, dialect));
    case Op::relu:
      return function("fmax", {args[0], "0.0f"}, dialect);
    case Op::erf:
      return f("erf");
    case Op::absolute:
      return f("fabs");
    case Op::add:
      return infix("+", args);
    case Op::subtract:
      return infix("-", args);
    case Op::multiply:
      return infix("*", args);
    case Op::divide:
      return infix("/", args);
    case Op::maximum:
      return f("fmax");
    case Op::minimum:
      return f("fmin");
    case Op::power:
      return f("pow");
    case Op::fma:
      return f("fma");
    case Op::lanes_add:
      return fold_lanes(Op::add, args[0], dialect, lanes);
    case Op::lanes_multiply:
      return fold_lanes(Op::multiply, args[0], dialect, lanes);
    case Op::lanes_maximum:
      return fold_lanes(Op::maximum, args[0], dialect, lanes);
    case Op::lanes_minimum:
      return fold_lanes(Op::minimum, args[0], dialect, lanes);
  }
  check_failed("every operation has a spelling", __FILE__, __LINE__);
}

}  // namespace deplo::ir
