// Only a schedule that computes the right formulas wins, however fast another one is.
#include "engine/tune/proved_winner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace deplo::engine::proved_winner_test {
namespace {

using Kind = ir::ProofVerdict::Kind;

measure::TrialRecord trial(const char* trail, double us) {
  measure::TrialRecord record;
  record.trail = trail;
  record.status = Status::ok;
  record.timing.median_us = us;
  record.changes = 1;
  return record;
}

TEST(ProvedWinner, IsTheFastestThatIsNotRefuted) {
  std::vector<measure::TrialRecord> trials = {trial("a=1", 30), trial("a=2", 10), trial("a=3", 20), trial("a=4", 5)};
  trials[3].status = Status::wrong_result;
  std::vector<std::size_t> asked;
  prove_winner(trials, [&](std::size_t i) -> std::optional<ir::ProofVerdict> {
    asked.push_back(i);
    if (i == 1) return ir::ProofVerdict{Kind::refuted, "c[3]"};
    return ir::ProofVerdict{Kind::proved, ""};
  });
  EXPECT_THAT(asked, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(trials[1].status, Status::wrong_result);
  EXPECT_EQ(trials[1].message, "refuted: c[3]");
  EXPECT_EQ(trials[2].status, Status::ok);
  EXPECT_EQ(trials[2].proof, "proved");
  EXPECT_EQ(trials[0].proof, "");
}

TEST(ProvedWinner, MayBeOpen) {
  std::vector<measure::TrialRecord> trials = {trial("a=1", 30)};
  prove_winner(trials, [](std::size_t) { return std::nullopt; });
  EXPECT_EQ(trials[0].proof, "");
  prove_winner(trials, [](std::size_t) { return ir::ProofVerdict{Kind::open, "too large"}; });
  EXPECT_EQ(trials[0].proof, "not proved: too large");
  EXPECT_EQ(trials[0].status, Status::ok);
}

TEST(ProvedWinner, IsNobodyIfAllAreRefuted) {
  std::vector<measure::TrialRecord> trials = {trial("a=1", 30), trial("a=2", 10)};
  prove_winner(trials, [](std::size_t) { return ir::ProofVerdict{Kind::refuted, "c[0]"}; });
  for (const measure::TrialRecord& each : trials) EXPECT_EQ(each.status, Status::wrong_result);
  prove_winner({}, [](std::size_t) { return std::nullopt; });
}

}  // namespace
}  // namespace deplo::engine::proved_winner_test
