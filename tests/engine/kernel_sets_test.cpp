// The sets of kernels that a graph may become: which sets there are, which set wins by its times, and how the choice is
// found in a store.
#include "engine/tune/kernel_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/compile/tuned.h"
#include "measure/store_fixture.h"

namespace deplo::engine::kernel_sets_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* two_attentions =
    "q = torch.randn(3, 17, 8); k = torch.randn(3, 9, 8)\n"
    "F.scaled_dot_product_attention(q, k, k), F.scaled_dot_product_attention(k, q, q)";

Experiment experiment_of(const std::string& code) {
  std::string text = code;
  std::ranges::replace(text, '\n', ';');
  return parse_experiment("kernels:\n  - {name: g, expression: \"" + text + "\"}\n", "x.yaml", ".");
}

class Sets : public ::testing::Test {
 protected:
  explicit Sets(const std::string& code = two_attentions) : experiment_(experiment_of(code)) {
    graphs_ = add_kernel_sets(experiment_, load_target("opencl-cpu"));
  }
  const KernelSets& sets() const { return graphs_.at(0); }
  /// Returns times in which each kernel of `fast` takes `us`, and every other kernel takes 10.
  static KernelSets::TimeOf with(const KernelSet& fast, double us) {
    return [&fast, us](const std::string& kernel) { return std::ranges::count(fast.kernels, kernel) > 0 ? us : 10; };
  }

  Experiment experiment_;
  std::vector<KernelSets> graphs_;
};

TEST_F(Sets, AreTheHeuristicsAndOneForEachOtherOption) {
  ASSERT_EQ(graphs_.size(), 1U);
  ASSERT_EQ(sets().sets().size(), 3U);
  EXPECT_TRUE(sets().sets()[0].changes.empty());
  EXPECT_EQ(sets().sets()[0].kernels, experiment_.graphs[0].kernels);
  std::size_t alternatives = 0;
  for (const KernelCase& kernel : experiment_.kernels) alternatives += kernel.alternative ? 1 : 0;
  EXPECT_EQ(alternatives, 6U) << "each attention as three kernels; the other one is the heuristic's, and shared";
}

TEST_F(Sets, TheLeastSumWins) {
  const KernelSet& second = sets().sets()[1];
  const auto chosen = sets().choose(with(second, 1));
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->set.trail, second.trail);
  EXPECT_EQ(chosen->sets, 3U);
  EXPECT_LT(chosen->best_us, chosen->heuristic_us);
  EXPECT_TRUE(sets().choose(with(second, 10))->set.changes.empty());
}

TEST_F(Sets, EquallyFastOnesLeaveTheHeuristics) {
  const KernelSet& second = sets().sets()[1];
  const auto time_of = [&](const std::string& kernel) {  // the sums of the two sets are 20 and 19.99
    return std::ranges::count(second.kernels, kernel) == 0 ? 10 : kernel == sets().sets()[0].kernels[1] ? 10 : 3.33;
  };
  EXPECT_TRUE(sets().choose(time_of)->set.changes.empty());
}

TEST_F(Sets, ChangesThatBothHelpAreCombined) {
  const auto time_of = [&](const std::string& kernel) {
    return std::ranges::count(sets().sets()[0].kernels, kernel) > 0 ? 10.0 : 1.0;
  };
  const auto chosen = sets().choose(time_of);
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->set.changes.size(), 2U);
  EXPECT_EQ(chosen->best_us, 6);
}

TEST_F(Sets, OnesWithoutATimeDoNotWin) {
  const KernelSet& second = sets().sets()[1];
  EXPECT_TRUE(sets().choose(with(second, 0)) == std::nullopt) << "it shares a kernel with the heuristic's set";
  const auto time_of = [&](const std::string& kernel) {
    return std::ranges::count(sets().sets()[0].kernels, kernel) > 0 ? 10.0 : 0.0;
  };
  EXPECT_TRUE(sets().choose(time_of)->set.changes.empty());
}

TEST_F(Sets, SlowOnesAreNotTuned) {
  const auto weights = [&](double other) {
    std::map<std::string, double> of = sets().weights([&](const std::string& kernel) {
      return std::ranges::count(sets().sets()[0].kernels, kernel) > 0 ? 1.0 : other;
    });
    return std::pair(of.at(sets().sets()[0].kernels[0]),
                     of.at(sets().sets()[1].kernels[0] == sets().sets()[0].kernels[0] ? sets().sets()[1].kernels[1]
                                                                                      : sets().sets()[1].kernels[0]));
  };
  EXPECT_EQ(weights(100), std::pair(0.5, 0.0));
  EXPECT_EQ(weights(1), std::pair(0.5, 0.0625)) << "2 beside 4, of four kernels";
  EXPECT_EQ(weights(0), std::pair(0.5, 0.25)) << "without a time it may be the fastest";
}

TEST_F(Sets, AShardWithoutAllKernelsHasNone) {
  Experiment part = experiment_of(two_attentions);
  part.kernels.pop_back();
  EXPECT_TRUE(add_kernel_sets(part, load_target("opencl-cpu")).empty());
}

TEST_F(Sets, AreTheSameEachTime) {
  Experiment again = experiment_of(two_attentions);
  const auto graphs = add_kernel_sets(again, load_target("opencl-cpu"));
  ASSERT_EQ(again.kernels.size(), experiment_.kernels.size());
  for (std::size_t i = 0; i < again.kernels.size(); ++i) EXPECT_EQ(again.kernels[i].name, experiment_.kernels[i].name);
  for (std::size_t i = 0; i < sets().sets().size(); ++i) EXPECT_EQ(graphs[0].sets()[i].digest, sets().sets()[i].digest);
}

class GraphTrail : public ::testing::Test {
 protected:
  measure::DeviceInfo device() const {
    measure::DeviceInfo info;
    info.backend = "opencl";
    info.name = "this";
    info.cpu = true;
    return info;
  }
  void store(const std::string& trail, const std::string& digest) {
    measure::Store store = measure::Store::open(file());
    const std::int64_t run = store.add_run({store.add_device(device()), "test", "", "random", 0, "here"});
    store.append(measure::GraphRecord{run, graph_key(graph_, passes_), "g", trail, digest, 2, 1});
  }
  GraphSchedule find(const std::string& require = "") {
    TunedCache cache(file(), device(), load_target("opencl-cpu"), false);
    GraphSchedule found = cache.find_graph({graph_, passes_});
    if (!require.empty()) cache.require_tuned(require);
    return found;
  }
  std::string file() const { return folder_.file("s.db"); }

  measure::TemporaryFolder folder_;
  const ir::torch::Graph graph_ = read_graph({Expression{two_attentions, "-c"}});
  const Passes passes_ = passes_of({}, load_target("opencl-cpu"));
  const std::string knob_ = vary_decisions(graph_, passes_)[1].changes[0].knob;
};

TEST_F(GraphTrail, IsFollowedWhereItGivesWhatWasMeasured) {
  const Variation other = vary_decisions(graph_, passes_)[1];
  store(print(other.fused.trail), kernels_digest(other.fused.module));
  EXPECT_EQ(find("here").trail, other.fused.trail);
  EXPECT_EQ(find().origin, Origin::tuned);
  EXPECT_EQ(find().note, "");
  store("", "");  // only the latest row counts
  EXPECT_EQ(find().origin, Origin::heuristic);
}

TEST_F(GraphTrail, OfOtherKernelsIsStale) {
  store(print(vary_decisions(graph_, passes_)[1].fused.trail), "another");
  EXPECT_TRUE(find().trail.empty());
  EXPECT_THAT(find().note, StartsWith("stale: the stored trail of graph row 1"));
  EXPECT_THAT(find().note, HasSubstr("other kernels than the measured ones"));
  EXPECT_THROW(find("--require-tuned"), Error);
}

TEST_F(GraphTrail, OfDecisionsThatAreNoMoreIsStale) {
  store("fusion.attention_gone=split", "x");
  EXPECT_TRUE(find().trail.empty());
  EXPECT_THAT(find().note, HasSubstr("gives no kernels (graph: fusion.attention_gone=split is left over"));
  store(knob_ + "=maybe", "x");
  EXPECT_THAT(find().note, HasSubstr("is not legal here; expected one of fused, split"));
}

TEST_F(GraphTrail, ThatIsDamagedIsNotFollowed) {
  store("no trail", "x");
  EXPECT_TRUE(find().trail.empty());
  EXPECT_THAT(find().note, StartsWith("damaged: the stored trail of graph row 1"));
}

TEST_F(GraphTrail, OfAnotherGraphOrDeviceDoesNotCount) {
  const Variation other = vary_decisions(graph_, passes_)[1];
  store(print(other.fused.trail), kernels_digest(other.fused.module));
  Passes fixed = passes_;
  fixed.fixed = {{"attention", "fused"}};
  TunedCache cache(file(), device(), load_target("opencl-cpu"), false);
  EXPECT_EQ(cache.find_graph({graph_, fixed}).origin, Origin::heuristic);
  EXPECT_EQ(cache.find_graph({read_graph({Expression{"torch.randn(3) * 2", "-c"}}), passes_}).note, "");
  measure::DeviceInfo elsewhere = device();
  elsewhere.name = "that";
  measure::Store::open(file()).add_device(elsewhere);
  EXPECT_EQ(TunedCache(file(), elsewhere, load_target("opencl-cpu"), false).find_graph({graph_, passes_}).note, "");
}

}  // namespace
}  // namespace deplo::engine::kernel_sets_test
