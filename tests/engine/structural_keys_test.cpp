// Keys of kernels of real models. A kernel in disguise must have the same keys, and a different kernel must have
// others.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/rng.h"
#include "drawn_seeds.h"
#include "engine/loop/kernel.h"
#include "engine/source/source.h"
#include "ir/canonical/canonical.h"
#include "ir/interpret/interpret.h"
#include "ir/walk.h"

namespace deplo::engine {
namespace {

std::vector<ir::Program> kernels_of(const std::string& model, std::int64_t seq) {
  return read_module({ModelBlock{model, 0, seq}}).kernels;
}

std::vector<ir::Program> corpus() {
  std::vector<ir::Program> result;
  for (const char* model : {"tinyllama-1.1b", "qwen2.5-7b"})
    for (ir::Program& kernel : kernels_of(model, 32)) result.push_back(std::move(kernel));
  for (const char* code : {"F.layer_norm(torch.randn(7, 33), (33,))", "F.gelu(torch.randn(4, 9), approximate='tanh')",
                           "torch.where(torch.randn(5, 8) > 0, torch.randn(5, 8), torch.randn(8) * 2 - 1)",
                           "F.embedding(torch.arange(3), torch.randn(3, 8))"}) {
    for (ir::Program& kernel : read_module({Expression{code, "-c"}}).kernels) result.push_back(std::move(kernel));
  }
  return result;
}

std::set<std::string> words(const std::string& text) {
  std::set<std::string> result;
  std::string word;
  for (const char c : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
    } else if (!word.empty()) {
      result.insert(std::exchange(word, ""));
    }
  }
  return result;
}

// Returns the names to which the statement, or one inside it, gives a value.
std::set<std::string> defines(const ir::Stmt& stmt) {
  std::set<std::string> result;
  ir::for_each({stmt}, [&](const ir::Stmt& s) {
    if (!ir::defined(s).empty()) result.insert(ir::defined(s));
    if (const auto* write = s.as<ir::Write>()) result.insert(write->buffer);
    if (const auto* loop = s.as<ir::Loop>()) result.insert(loop->axis.name);
  });
  return result;
}

bool meet(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

class Disguise {
 public:
  explicit Disguise(std::uint64_t seed) : rng_(seed) {}

  ir::Program operator()(ir::Program program) {
    ir::renumber_axes(program);
    reorder(program.body);
    if (rng_.below(2) == 0) add_unit_axis(program);
    program = rename(program);
    for (std::size_t i = program.buffers.size(); i > 1; --i)
      std::swap(program.buffers[i - 1], program.buffers[rng_.below(i)]);
    return program;
  }

 private:
  void reorder(ir::Body& body) {
    for (std::size_t turn = 0; turn < 3 * body.size(); ++turn) {
      if (body.size() < 2) break;
      const std::size_t i = rng_.below(body.size() - 1);
      const auto a = defines(body[i]), b = defines(body[i + 1]);
      if (!meet(a, words(print(ir::Body{body[i + 1]}))) && !meet(b, words(print(ir::Body{body[i]}))))
        std::swap(body[i], body[i + 1]);
    }
    for (ir::Stmt& stmt : body) {
      auto* assign = stmt.as<ir::Assign>();
      if (assign != nullptr && ir::is_commutative(assign->op) && rng_.below(2) == 0)
        std::swap(assign->args[0], assign->args[1]);
      if (ir::Body* inner = ir::inner_body(stmt)) reorder(*inner);
    }
  }

  // Puts the program into a loop with one iteration, and gives every output a dimension for this loop.
  void add_unit_axis(ir::Program& program) {
    for (ir::Buffer& buffer : program.buffers) {
      if (buffer.role != ir::Role::output) continue;
      buffer.shape.insert(buffer.shape.begin(), 1);
      buffer.strides.insert(buffer.strides.begin(), 12345);
      unit_dimension(program.body, buffer.name);
    }
    ir::Body body = std::move(program.body);
    program.body.clear();
    program.body.emplace_back(ir::Loop{{"unit", 1, ir::Bind::free}, 0, 1, 1, std::move(body)});
  }
  static void unit_dimension(ir::Body& body, const std::string& buffer) {
    for (ir::Stmt& stmt : body) {
      if (auto* write = stmt.as<ir::Write>(); write != nullptr && write->buffer == buffer)
        write->index.insert(write->index.begin(), ir::var("unit"));
      if (auto* load = stmt.as<ir::Load>(); load != nullptr && load->buffer == buffer)
        load->index.insert(load->index.begin(), ir::var("unit"));
      if (ir::Body* inner = ir::inner_body(stmt)) unit_dimension(*inner, buffer);
    }
  }

  // Renames in the text: every word that is a name becomes another name.
  ir::Program rename(const ir::Program& program) {
    std::set<std::string> names;
    for (const ir::Buffer& buffer : program.buffers) names.insert(buffer.name);
    for (const ir::Stmt& stmt : program.body) names.merge(defines(stmt));
    std::vector<std::size_t> numbers(names.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
    for (std::size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[rng_.below(i)]);
    std::map<std::string, std::string> renamed;
    for (const std::string& name : names) renamed[name] = fmt::format("n{}x", numbers[renamed.size()]);
    std::string text, word;
    for (const char c : print(program) + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        word += c;
        continue;
      }
      text += renamed.contains(word) ? renamed[word] : word;
      word.clear();
      text += c;
    }
    return ir::parse(text);
  }

  Rng rng_;
};

TEST(StructuralKeys, SeeThroughNamesOrderCommutedArgumentsAndUnitAxes) {
  for (const ir::Program& kernel : corpus()) {
    const ir::Canonical plain = ir::canonical(kernel);
    ASSERT_EQ(verify(plain.program), "") << print(kernel);
    EXPECT_EQ(ir::canonical(plain.program).program, plain.program) << print(kernel);
    for (const std::uint64_t seed : drawn_seeds(20)) {
      const ir::Program other = Disguise(seed)(kernel);
      ASSERT_EQ(verify(other), "") << print(other);
      ASSERT_EQ(print(ir::canonical(other).program), print(plain.program)) << "seed " << seed << "\n" << print(other);
      const ir::StructuralKeys a = ir::structural_keys(kernel), b = ir::structural_keys(other);
      EXPECT_EQ(a.exact, b.exact);
      EXPECT_EQ(a.schedule, b.schedule);
    }
  }
}

// Runs the canonical program, with the buffers in the order that ir::canonical() returns.
TEST(StructuralKeys, TheCanonicalProgramComputesTheSame) {
  std::size_t compared = 0;
  for (const ir::Program& kernel : corpus()) {
    if (ir::work(kernel).flops > 2e6) continue;
    const ir::Canonical found = ir::canonical(kernel);
    Rng rng(1);
    ir::Memory memory, other;
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
      const ir::Buffer& buffer = kernel.buffers[found.buffers[i]];
      std::vector<double> values(static_cast<std::size_t>(span(buffer)));
      for (double& value : values)
        value = buffer.dtype == ir::DType::f32 ? rng.uniform(-1, 1) : static_cast<double>(rng.below(2));
      other[found.program.buffers[i].name] = values;
      memory[buffer.name] = std::move(values);
    }
    interpret(kernel, memory);
    interpret(found.program, other);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i)
      EXPECT_EQ(memory.at(kernel.buffers[found.buffers[i]].name), other.at(found.program.buffers[i].name))
          << print(kernel);
    ++compared;
  }
  EXPECT_GE(compared, 10u);
}

// Keys must differ for other extents, dtypes, strides, layouts and classes of operations.
TEST(StructuralKeys, DifferWhereKernelsDo) {
  const std::string base = print(load_kernel("rmsnorm", {{"M", 7}, {"D", 129}}, "test"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = base;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    EXPECT_NE(text, base) << from;
    return ir::structural_keys(ir::parse(text));
  };
  const ir::StructuralKeys plain = ir::structural_keys(ir::parse(base));
  std::set<std::string> schedule{plain.schedule}, exact{plain.exact};
  const std::vector<std::pair<std::string, std::string>> edits = {
      {"129", "130"}, {"f32[7, 129]", "f32[7, 129] strides=(1, 7)"}, {"rsqrt", "sqrt"}, {"multiply", "maximum"}};
  for (const auto& [from, to] : edits) {
    const ir::StructuralKeys keys = with(from, to);
    EXPECT_TRUE(schedule.insert(keys.schedule).second) << from;
    EXPECT_TRUE(exact.insert(keys.exact).second) << from;
  }
}

// Makes small kernels with all combinations of extents, operations, strides and dtypes. Returns the number of their
// keys.
std::size_t distinct_keys(std::size_t count) {
  const char* const operations[] = {"add", "multiply", "maximum", "minimum", "divide", "power"};
  const char* const types[] = {"f32", "f16", "bf16"};
  std::set<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    const auto digit = [&](std::size_t base) { return std::exchange(rest, rest / base) % base; };
    const std::size_t operation = digit(6), type = digit(3), n = digit(97) + 2, m = rest + 2;
    keys.insert(ir::structural_keys(ir::parse(fmt::format(
                                        "=== loop: k ===\ninput x: {0}[{2}, {3}]\ninput z: f32[{3}]\n"
                                        "output y: f32[{2}, {3}]\nfor i in 0..{2}: # free\n  for j in 0..{3}: # free\n"
                                        "    a = load x[i, j]\n    b = load z[j]\n    c = {1}(a, b)\n    y[i, j] = c\n",
                                        types[type], operations[operation], m, n)))
                    .schedule);
  }
  return keys.size();
}

TEST(StructuralKeys, DifferForEachOfManyKernels) { EXPECT_EQ(distinct_keys(20'000), 20'000u); }
TEST(StructuralKeys, DISABLED_DifferForEachOfAMillionKernels) { EXPECT_EQ(distinct_keys(1'000'000), 1'000'000u); }

}  // namespace
}  // namespace deplo::engine
