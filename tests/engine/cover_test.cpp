// The strategy `cover`, with which gpu_check finds errors, on the kernels that gpu_check uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "core/rng.h"
#include "core/target.h"
#include "engine/compile/kernel_space.h"
#include "engine/source/experiment.h"
#include "rules/rule.h"
#include "search/searcher.h"

namespace deplo::engine {
namespace {

const std::filesystem::path root = DEPLO_SOURCE_DIR;
using Values = std::set<std::string>;

/// Returns "rule.knob=value". If the knob is named after a buffer or an axis, `*` replaces the name.
std::string named(const std::string& knob, const Value& value) {
  const std::string rule = knob.substr(0, knob.find('.'));
  const auto& knobs = rules::find_rule(rule)->knobs;
  const bool known =
      std::ranges::any_of(knobs, [&](const auto& each) { return rule + "." + std::string(each.name) == knob; });
  return (known ? knob : rule + ".*") + "=" + deplo::print(value);
}

/// Returns all options that random paths meet.
Values met(const KernelSpace& space, Rng& rng) {
  Values values;
  for (int i = 0; i < 100; ++i)
    for (search::PositionPtr at = space.root(); at->fork();) {
      const Fork& fork = *at->fork();
      for (const Value& value : fork.options) values.insert(named(fork.knob, value));
      at = at->choose(rng.below(fork.options.size()));
    }
  return values;
}

Values covered(const KernelSpace& space, std::size_t trials) {
  Values values;
  const auto searcher = search::make_searcher("cover", space, {});
  for (const search::Candidate& candidate : searcher->ask(trials))
    for (const Choice& choice : candidate->trail()) values.insert(named(choice.knob, choice.value));
  return values;
}

std::string rule_of(const std::string& value) { return value.substr(0, value.find('.')); }

TEST(Cover, FewSchedulesHaveNearlyEveryValue) {
  Rng rng(3);
  for (const char* target : {"sm_90", "opencl-cpu"}) {
    Values all, tried, rules;
    for (const char* name : {"odd_shapes", "matrix_instructions"}) {
      const Experiment experiment =
          load_experiment(root / "experiments" / (name + std::string(".yaml")), {}, {}, {.target = target});
      for (const KernelCase& kernel : experiment.kernels) {
        const KernelSpace space(kernel.loop, load_target(target));
        all.merge(met(space, rng));
        tried.merge(covered(space, static_cast<std::size_t>(experiment.trials)));
      }
    }
    Values missing;
    std::ranges::set_difference(all, tried, std::inserter(missing, missing.end()));
    EXPECT_LT(missing.size(), all.size() / 20) << target << ": " << ::testing::PrintToString(missing);
    for (const std::string& value : tried) rules.insert(rule_of(value));
    for (const std::string& value : all) EXPECT_TRUE(rules.contains(rule_of(value))) << value;
    for (const std::string& value : missing)
      for (const char* knob : {"mma.atom", "online_softmax.by", "online_softmax.a"})
        EXPECT_NE(value.substr(0, value.find('=')), knob) << value;
  }
}

}  // namespace
}  // namespace deplo::engine
