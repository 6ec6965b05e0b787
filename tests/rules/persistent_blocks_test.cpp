// A block that takes several of the grid waits between them, and goes on to count TMA's phases: without either the
// interpreter finds it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"
#include "ir/interpret/interpret.h"
#include "ir/walk.h"
#include "rules/golden.h"
#include "rules/lower.h"

namespace deplo::rules {
namespace {

using ::testing::HasSubstr;

/// The Kernel IR of the program after.
ir::Program kernel_of(const char* name) {
  const Golden golden = read_golden(std::string(DEPLO_SOURCE_DIR "/tests/golden/persistent_blocks/") + name + ".ir");
  return materialize(ir::parse(golden.after), load_target(golden.target));
}

/// What the interpreter finds, with every input 1; "": every output is the length of the sum.
std::string finding(const ir::Program& kernel, double sum) {
  ir::Memory memory;
  for (const ir::Buffer& buffer : kernel.buffers)
    memory[buffer.name].assign(static_cast<std::size_t>(ir::element_count(buffer)), buffer.name == "y" ? NAN : 1.0);
  try {
    ir::interpret(kernel, memory);
  } catch (const Error& error) {
    return error.what();
  }
  for (const double y : memory["y"])
    if (y != sum) return "wrong";
  return "";
}

void edit_bodies(ir::Body& body, const std::function<void(ir::Body&)>& edit) {
  edit(body);
  for (ir::Stmt& stmt : body)
    if (ir::Body* inner = ir::inner_body(stmt)) edit_bodies(*inner, edit);
}

TEST(PersistentBlocks, ComputeTheWholeGrid) {
  for (const char* name : {"waves_small", "whole_turns_small", "shares_small", "tma_odd_rounds_small"})
    EXPECT_EQ(finding(kernel_of(name), 12), "") << name;
  EXPECT_EQ(finding(kernel_of("shares_split_small"), 24), "");
}

// The barrier that stands right before what one thread starts.
TEST(PersistentBlocks, AMissingBarrierBetweenTwoIsARace) {
  ir::Program kernel = kernel_of("tma_odd_rounds_small");
  int removed = 0;
  edit_bodies(kernel.body, [&](ir::Body& body) {
    const auto* guard = body.size() > 1 ? body[1].as<ir::If>() : nullptr;
    if (body[0].as<ir::Sync>() == nullptr || guard == nullptr) return;
    body.erase(body.begin());
    ++removed;
  });
  ASSERT_EQ(removed, 1);
  EXPECT_THAT(finding(kernel, 12), HasSubstr("race"));
}

TEST(PersistentBlocks, APhaseThatBeginsAnewIsFound) {
  ir::Program kernel = kernel_of("tma_odd_rounds_small");
  std::string turn;
  edit_bodies(kernel.body, [&](ir::Body& body) {
    for (ir::Stmt& stmt : body) {
      const auto* loop = stmt.as<ir::Loop>();
      if (turn.empty() && loop != nullptr) turn = loop->axis.name;
      if (auto* wait = stmt.as<ir::MbarrierWait>())
        wait->phase = ir::simplify(ir::substitute(wait->phase, {{turn, 0}}));
    }
  });
  EXPECT_NE(finding(kernel, 12), "");
}

}  // namespace
}  // namespace deplo::rules
