// A block that takes several blocks of the grid must wait between them, and must continue to count TMA's phases. Tests
// that the interpreter finds the fault if either is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "ir/walk.h"
#include "rules/golden.h"
#include "rules/lower.h"
#include "rules/programs.h"

namespace deplo::rules {
namespace {

using ::testing::HasSubstr;

Golden golden(const char* name) {
  return read_golden(std::string(DEPLO_SOURCE_DIR "/tests/golden/persistent_blocks/") + name + ".ir");
}

/// Returns the Kernel IR of the golden's program after the rule.
ir::Program kernel_of(const char* name) {
  const Golden of = golden(name);
  return materialize(ir::parse(of.after), load_target(of.target));
}

/// Returns what is wrong with the kernel, which should compute what the golden's program before the rule computes; ""
/// if nothing is.
std::string finding_in(const char* name, const ir::Program& kernel) {
  return finding(ir::parse(golden(name).before), kernel, 7);
}

TEST(PersistentBlocks, ComputeTheWholeGrid) {
  for (const char* name :
       {"waves_small", "whole_turns_small", "shares_small", "shares_split_small", "tma_odd_rounds_small"})
    EXPECT_EQ(finding_in(name, kernel_of(name)), "") << name;
}

// The removed barrier is right before the copies that one thread starts.
TEST(PersistentBlocks, AMissingBarrierBetweenTwoIsARace) {
  ir::Program kernel = kernel_of("tma_odd_rounds_small");
  int removed = 0;
  edit_bodies(kernel.body, [&](ir::Body& body) {
    const auto* guard = body.size() > 2 ? body[2].as<ir::If>() : nullptr;
    if (body[0].as<ir::ProxyFence>() == nullptr || body[1].as<ir::Sync>() == nullptr || guard == nullptr) return;
    body.erase(body.begin() + 1);
    ++removed;
  });
  ASSERT_EQ(removed, 1);
  EXPECT_THAT(finding_in("tma_odd_rounds_small", kernel), HasSubstr("race"));
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
  EXPECT_NE(finding_in("tma_odd_rounds_small", kernel), "");
}

}  // namespace
}  // namespace deplo::rules
