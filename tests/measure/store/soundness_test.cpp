// Stored times that cannot be true.
#include "measure/store/soundness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "rules/cost/least_work.h"

namespace deplo::measure {
namespace {

constexpr ir::Work work{.flops = 2e6, .bytes = 1e6};  // at least 20 µs and 50 µs at the ceilings below
constexpr rules::Ceilings seen{20, 10, 100};

TrialRecord trial(std::vector<double> samples, double median_us) {
  TrialRecord record;
  record.status = Status::ok;
  record.timing.median_us = median_us;
  record.timing.samples = std::move(samples);
  record.timing.fidelity = 1;
  record.protocol = "v2 plausible=0.9";
  return record;
}

std::string_view fault(const TrialRecord& record, const rules::Ceilings& ceilings = seen, std::int64_t l2_bytes = 0) {
  return measure::fault_of(record, work, ceilings, l2_bytes);
}

TEST(Soundness, WhatWasMeasuredIsSound) {
  EXPECT_EQ(fault(trial({60, 50, 55}, 55)), "");
  EXPECT_EQ(fault(trial({60, 50}, 55)), "") << "the mean of the middle two";
  EXPECT_EQ(fault(trial({1}, 1), {}), "") << "nothing is known of the device";
}

TEST(Soundness, TimesThatAreNone) {
  for (const double us : {0.0, -1.0, 1e300, std::numeric_limits<double>::infinity(), std::nan("")}) {
    EXPECT_EQ(fault(trial({us}, us)), "a time that is not a positive number") << us;
    EXPECT_EQ(fault(trial({60, 50, us}, 50)), "ok with a sample that is not a positive number") << us;
  }
  EXPECT_EQ(fault(trial({}, 50)), "ok without samples");
}

TEST(Soundness, TheTimeIsTheMedianOfTheSamples) {
  for (const double us : {50.0, 60.0, 54.9, 55.1})
    EXPECT_EQ(fault(trial({60, 50, 55}, us)), "a median that contradicts its samples") << us;
}

TEST(Soundness, NoTimeIsFasterThanTheDevice) {
  EXPECT_EQ(fault(trial({26}, 26)), "") << "ceilings may have been seen after the last were stored";
  EXPECT_EQ(fault(trial({24}, 24)), "a time that no hardware can reach") << "bytes";
  EXPECT_EQ(fault(trial({9}, 9), {0, 0, 100}), "a time that no hardware can reach") << "FLOPs";
  EXPECT_EQ(fault(trial({24}, 24), seen, 600'000), "") << "the cache may hold all";
  EXPECT_EQ(fault(trial({5e-5}, 5e-5), {}), "a time that no hardware can reach") << "less than a cycle";
  TrialRecord prefix = trial({24}, 24);
  prefix.timing.fidelity = 0.5;
  EXPECT_EQ(fault(prefix), "") << "of which nobody asks";
  TrialRecord old = trial({24}, 24);
  old.protocol = "v1 warm-operands";
  EXPECT_EQ(fault(old), "");
}

TEST(Soundness, NumbersOfTheRow) {
  for (const auto& [field, value, text] :
       {std::tuple(&Timing::batch, 0, "a batch or sets below one"), {&Timing::sets, -1, "a batch or sets below one"}}) {
    TrialRecord record = trial({60}, 60);
    record.timing.*field = value;
    EXPECT_EQ(fault(record), text);
  }
  for (const double fidelity : {0.0, -1.0, 1.5}) {
    TrialRecord record = trial({60}, 60);
    record.timing.fidelity = fidelity;
    EXPECT_EQ(fault(record), "an invalid fraction of the grid");
  }
}

TEST(Soundness, WhatWasRecordedElsewhereIsAsItWasFound) {
  TrialRecord record = trial({}, 50);
  record.protocol = "recorded";
  EXPECT_EQ(fault(record), "");
  record.timing.median_us = -1;
  EXPECT_EQ(fault(record), "a time that is not a positive number");
}

}  // namespace
}  // namespace deplo::measure
