// Tests proofs of schedules in exact arithmetic: the published suite at small sizes, and attention in all forms. Faults
// that no tolerance would reveal must be refuted.
#include "ir/interpret/proof.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "ir/torch/expression/expression.h"
#include "rules/decompose/decompose.h"
#include "rules/fusion/fuse.h"
#include "rules/programs.h"

namespace deplo::rules::proof_test {
namespace {

using ::testing::HasSubstr;

/// Returns the proof's verdict on the heuristic's schedule, after f32 buffers were changed to `dtype`.
std::string verdict(ir::Program loop, const char* target_name, ir::DType dtype = ir::DType::f32) {
  for (ir::Buffer& buffer : loop.buffers)
    if (buffer.dtype == ir::DType::f32) buffer.dtype = dtype;
  const Target target = load_target(target_name);
  Lowering lowering(loop, target);
  while (lowering.fork()) lowering.choose(0);
  const ir::Proof proof(loop, random_memory(loop, 1), 1);
  return print(proof.verdict(materialize(lowering.program(), target), {.shared_bytes = target.shared_bytes}));
}

ir::Module module_of(const std::string& expression) {
  return fuse(compose(decompose(ir::torch::parse_expression(expression))), FuseOptions{});
}

/// Returns the suite's expressions with extents that an interpreter can take. Most rows and sums are not multiples of
/// 32.
std::vector<std::string> small_suite() {
  const std::map<std::string, std::string> smaller = {{"4", "1"},     {"28", "7"},    {"32", "8"},     {"64", "16"},
                                                      {"128", "24"},  {"256", "24"},  {"512", "40"},   {"2048", "64"},
                                                      {"3584", "56"}, {"5632", "88"}, {"18944", "104"}};
  std::vector<std::string> expressions;
  const std::string text = read_text(DEPLO_SOURCE_DIR "/experiments/suite84.yaml");
  const std::regex expression("expression: \"([^\"]*)\""), number("\\b\\d+\\b");
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    const std::string original = (*at)[1];
    std::string& scaled = expressions.emplace_back();
    auto from = original.cbegin();
    for (std::sregex_iterator n(original.begin(), original.end(), number); n != end; ++n) {
      scaled.append(from, (*n)[0].first);
      const auto found = smaller.find(n->str());
      scaled += found == smaller.end() ? n->str() : found->second;
      from = (*n)[0].second;
    }
    scaled.append(from, original.cend());
  }
  return expressions;
}

TEST(ProofOfTheSuite, EveryKernelsHeuristicIsProved) {
  const std::vector<std::string> expressions = small_suite();
  EXPECT_GE(expressions.size(), 84U);
  for (const std::string& expression : expressions)
    for (const ir::Program& loop : module_of(expression).kernels)
      for (const char* target : {"sm_90", "opencl-cpu"}) EXPECT_EQ(verdict(loop, target), "proved") << expression;
}

TEST(ProofOfTheSuite, AttentionIsProvedUpToRounding) {
  for (const char* arguments : {"", ", is_causal=True", ", attn_mask=torch.randn(20, 72)"})
    for (const char* target : {"sm_80", "sm_90", "opencl-cpu"})
      for (const ir::DType dtype : {ir::DType::f32, ir::DType::bf16}) {
        const std::string code = fmt::format(
            "q = torch.randn(1, 20, 32); k = torch.randn(1, 72, 32); v = torch.randn(1, 72, 32); "
            "F.scaled_dot_product_attention(q, k, v{})",
            arguments);
        for (const ir::Program& loop : module_of(code).kernels)
          EXPECT_THAT(verdict(loop, target, dtype),
                      ::testing::AnyOf("proved", "proved up to rounding of values to bf16"))
              << code << " " << target;
      }
}

/// Returns the proof's verdict on the heuristic's Kernel IR with a fault.
std::string verdict_with(const char* name, const ir::Symbols& symbols, const std::function<void(ir::Body&)>& fault) {
  const ir::Program loop = ir::parse(kernel(name).text, symbols, name);
  const Target target = load_target("sm_90");
  Lowering lowering(loop, target);
  while (lowering.fork()) lowering.choose(0);
  const ir::Program sound = materialize(lowering.program(), target);
  ir::Program wrong = sound;
  edit_bodies(wrong.body, fault);
  EXPECT_NE(wrong, sound) << "no fault in " << ir::print(sound);
  const ir::Proof proof(loop, random_memory(loop, 1), 1);
  EXPECT_EQ(print(proof.verdict(sound)), "proved");
  return print(proof.verdict(wrong));
}

/// Plants a fault: adds 1e-12 to each value that is written.
void add_a_trifle(ir::Body& body) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    auto* write = body[i].as<ir::Write>();
    if (write == nullptr) continue;
    const ir::Arg value = write->value;
    write->value = "trifle";
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(i++),
                ir::Assign{"trifle", {ir::DType::f32, write->lanes}, ir::Op::add, {value, 1e-12}});
  }
}

/// Plants a fault: drops the last four terms of each reduction, which may be the lanes of a vector.
void drop_terms(ir::Body& body) {
  for (ir::Stmt& stmt : body)
    if (auto* loop = stmt.as<ir::Loop>(); loop != nullptr && loop->axis.bind == ir::Bind::reduce)
      loop->axis.extent = std::max<std::int64_t>(1, loop->axis.extent - 4);
}

TEST(ProofOfASchedule, IsRefutedByWhatNoToleranceSees) {
  for (const auto& [name, symbols] : std::map<const char*, ir::Symbols>{{"matmul", {{"M", 8}, {"N", 8}, {"K", 4096}}},
                                                                        {"softmax", {{"M", 4}, {"N", 4096}}},
                                                                        {"rmsnorm", {{"M", 4}, {"D", 4096}}}}) {
    EXPECT_THAT(verdict_with(name, symbols, add_a_trifle), HasSubstr("refuted")) << name;
    EXPECT_THAT(verdict_with(name, symbols, drop_terms), HasSubstr("refuted")) << name;
  }
}

// The proof executes blocks together if they add to the same elements.
TEST(ProofOfASchedule, OfALargeSplitSumIsInPart) {
  const ir::Program loop = matmul(64, 1024, 1024);
  const Target target = load_target("sm_90");
  const ir::Program sound =
      materialize(heuristic_with(loop, target, "split_matmul_k.splits", Value(std::int64_t{4})).program(), target);
  const ir::Proof proof(loop, random_memory(loop, 1), 1);
  EXPECT_THAT(print(proof.verdict(sound)), HasSubstr("proved in part: "));
  ir::Program wrong = sound;
  edit_bodies(wrong.body, add_a_trifle);
  EXPECT_THAT(print(proof.verdict(wrong)), HasSubstr("not proved: other blocks may add"));
}

// The elements of blocks that are not executed stay 0, and are not compared.
TEST(ProofOfASchedule, OfSumsOfSomeClustersIsInPart) {
  const ir::Program loop = matmul(32, 2048, 2048);
  EXPECT_THAT(verdict(loop, "sm_90"), HasSubstr("proved in part: 64 of 256 blocks, 64 elements"));
}

TEST(ProofOfASchedule, OfALargeKernelIsInPart) {
  const ir::Symbols large = {{"M", 1024}, {"N", 1024}, {"K", 64}};
  const ir::Program loop = ir::parse(kernel("matmul").text, large, "matmul");
  EXPECT_THAT(verdict(loop, "sm_90"), HasSubstr("proved in part: "));
  EXPECT_THAT(verdict(loop, "sm_90"), HasSubstr(" blocks, 64 elements"));
}

// In the interpreter, each product of a matrix instruction takes as long as a statement. All 112 blocks would take a
// minute.
TEST(ProofOfASchedule, OfWideMatrixInstructionsIsInPart) {
  const ir::Program loop = matmul(512, 1792, 2048);
  EXPECT_THAT(verdict(loop, "sm_90", ir::DType::bf16), HasSubstr("proved in part: 2 of 112 blocks"));
}

}  // namespace
}  // namespace deplo::rules::proof_test
