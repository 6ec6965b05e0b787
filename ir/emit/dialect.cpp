#include "ir/emit/dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/error.h"

namespace deplo::ir {

const Speller& speller(const Target& target) {
  // On a CPU 64-bit indices let the compiler fold offsets into addressing modes; 32-bit ones cost a sign extension per
  // access (docs/performance.md). On GPUs 64-bit integer arithmetic is the slower one.
  static constexpr Speller opencl_gpu = {"int",
                                         "__global const",
                                         "__global",
                                         "__local",
                                         "barrier(CLK_LOCAL_MEM_FENCE);",
                                         "get_group_id(0)",
                                         "get_local_id(0)",
                                         true};
  static constexpr Speller opencl_cpu = [] {
    Speller result = opencl_gpu;
    result.index_type = "long";
    return result;
  }();
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

struct Spelling {
  Op op;
  std::string_view text;
};

// {0}, {1}, {2} are the arguments. {f} ends the names of CUDA's float functions; OpenCL overloads one name for float
// and vectors.
constexpr std::array spellings{
    Spelling{Op::copy, "{0}"},
    Spelling{Op::negative, "-{0}"},
    Spelling{Op::reciprocal, "1.0f / {0}"},
    Spelling{Op::exp, "exp{f}({0})"},
    Spelling{Op::log, "log{f}({0})"},
    Spelling{Op::sqrt, "sqrt{f}({0})"},
    Spelling{Op::rsqrt, "rsqrt{f}({0})"},
    Spelling{Op::tanh, "tanh{f}({0})"},
    Spelling{Op::sigmoid, "1.0f / (1.0f + exp{f}(-{0}))"},
    Spelling{Op::relu, "fmax{f}({0}, 0.0f)"},
    Spelling{Op::erf, "erf{f}({0})"},
    Spelling{Op::absolute, "fabs{f}({0})"},
    Spelling{Op::add, "{0} + {1}"},
    Spelling{Op::subtract, "{0} - {1}"},
    Spelling{Op::multiply, "{0} * {1}"},
    Spelling{Op::divide, "{0} / {1}"},
    Spelling{Op::maximum, "fmax{f}({0}, {1})"},
    Spelling{Op::minimum, "fmin{f}({0}, {1})"},
    Spelling{Op::power, "pow{f}({0}, {1})"},
    Spelling{Op::fma, "fma{f}({0}, {1}, {2})"},
};

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
  for (const Op fold : {Op::add, Op::multiply, Op::maximum, Op::minimum})
    if (op == horizontal(fold)) return fold_lanes(fold, args[0], dialect, lanes);
  const auto spelling = std::find_if(spellings.begin(), spellings.end(), [&](const Spelling& s) { return s.op == op; });
  CHECK(spelling != spellings.end() && args.size() == static_cast<std::size_t>(arity(op)));
  const auto arg = [&](std::size_t i) { return i < args.size() ? std::string_view(args[i]) : std::string_view(); };
  return fmt::format(fmt::runtime(spelling->text), arg(0), arg(1), arg(2),
                     fmt::arg("f", dialect == Dialect::cuda ? "f" : ""));
}

}  // namespace deplo::ir
