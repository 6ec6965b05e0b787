// Functions that emitted kernels call are declared as in PoCL's header, so that no build has to read the header.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/target.h"
#include "ir/emit/emit.h"
#include "ir/torch/expression/expression.h"
#include "measure/opencl/pocl_builtins.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"
#include "rules/lower.h"
#include "torch_values.h"

namespace deplo::measure::opencl {
namespace {

TEST(OpenclBuiltins, AreThoseThatTheSourceCalls) {
  const auto text = builtins_of(
      "float twice(const float x) { return 2.0f * x; }\n"
      "#define longer exp2\n"
      "__kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n"
      "void f(__global float* restrict a) {\n"
      "  const long i = get_group_id(0);\n"
      "  for (int k = 0; k < 2; ++k) if (a[i] > 0) a[i] = 2.0f * fma(twice(a[i]), as_float(k), longer(a[i]));\n"
      "}\n");
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->find(" get_group_id(uint);"), std::string::npos);
  EXPECT_NE(text->find("float16 __attribute__((overloadable, const)) fma(float16, float16, float16);"),
            std::string::npos);
  EXPECT_EQ(text->find("twice"), std::string::npos);
  EXPECT_EQ(text->find("get_local_id"), std::string::npos);
  EXPECT_TRUE(text->ends_with("#line 1\n")) << "messages name the lines of the source";
}

TEST(OpenclBuiltins, AreFoundInTheTextOfAMacro) {
  const auto text = builtins_of(
      "#define INDEX (get_global_id(0))\n#define FMA(a, b, c) fma(a, b, c)\n"
      "__kernel void f(__global float* a) { a[INDEX] = FMA(a[0], a[1], a[2]); }");
  ASSERT_TRUE(text.has_value());
  EXPECT_NE(text->find(" get_global_id(uint);"), std::string::npos);
  EXPECT_NE(text->find(" fma(float, float, float);"), std::string::npos);
}

TEST(OpenclBuiltins, AreNoneForAFunctionThatIsNotKnown) {
  EXPECT_FALSE(builtins_of("__kernel void f(__global float* a) { a[0] = lgamma(a[0]); }").has_value());
  EXPECT_TRUE(builtins_of("__kernel void f(__global float* a) { a[0] = a[1]; }").has_value());
}

// If a function were unknown, builds of kernels that call it would take three times as long, without any message.
TEST(OpenclBuiltins, AreKnownForEveryOperation) {
  for (const char* name : {"opencl-cpu", "opencl-cpu-avx2", "opencl-cpu-bf16", "opencl-gpu"}) {
    const Target target = load_target(name);
    std::vector<tests::TorchCase> cases = tests::special_cases();
    cases.insert(cases.end(), tests::torch_cases().begin(), tests::torch_cases().end());
    for (const tests::TorchCase& each : cases) {
      const ir::torch::Graph graph = ir::torch::parse_expression(each.code, "<expression>", each.dtype);
      const ir::Module module = rules::fuse(rules::compose(rules::decompose(graph)));
      for (const ir::Program& loop : module.kernels) {
        const ir::Program tile = rules::heuristic(loop, target).program();
        const std::string text = ir::emit(rules::materialize(tile, target), target).text;
        EXPECT_TRUE(builtins_of(text).has_value()) << name << ", " << each.code << "\n" << text;
      }
    }
  }
}

}  // namespace
}  // namespace deplo::measure::opencl
