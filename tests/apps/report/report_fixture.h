// Code that the tests of reports share: a small comparison and small stores.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "apps/compare/strategy_compare.h"
#include "measure/store_fixture.h"

namespace deplo::apps::report {

/// Returns a comparison of two strategies on a space of 144 configurations.
inline Comparison small_comparison(const measure::TemporaryFolder& folder) {
  std::ofstream csv(folder.file("s.csv"));
  csv << "a,b,<i>&,time (ms)\n";
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 6; ++b)
      for (int c = 0; c < 3; ++c)
        csv << a << ',' << b << ',' << c << ',' << 5 + (a - 4) * (a - 4) + 2 * b + c % 3 << '\n';
  csv.close();
  CompareFlags flags;
  flags.spaces = {folder.file("s.csv")};
  flags.search = {"random", "ils", "mcts:c=0.2"};
  flags.orders = {"recorded", "reversed"};
  flags.contest.repeats = 4;
  flags.contest.regret = true;
  Progress progress(stderr, true);
  return compare_strategies(flags, progress);
}

inline const std::string hostile = "<script>alert(\"1\")</script> & 'x' \xff\xc3";

/// Fills a store with trials of a kernel, which has a hostile name by default. The times of valid trials fall with bm.
inline void fill_store(const std::string& file, int failures, int valid, const std::string& name = hostile) {
  using namespace measure;
  Store store = Store::open(file);
  const Ids ids = add_context(store);
  const std::int64_t kernel = store.add_kernel({name, "no program at all <b>\n" + name});
  std::vector<TrialRecord> trials;
  for (int i = 0; i < failures + valid; ++i) {
    trials.push_back(
        some_trial(ids, i, fmt::format("block.bm={} block.bn={}", 1 + i % 5, i / 5), 1000.0 / (1 + i % 5) + i));
    trials.back().kernel = kernel;
    if (i >= failures) continue;
    trials.back().status = i % 2 == 0 ? Status::build_error : Status::hang;
    trials.back().message = "it said <b>" + hostile + "</b>";
    trials.back().timing.median_us = trials.back().timing.fidelity = 0;
  }
  store.append(trials);
}

/// Adds a library's baseline of the last kernel.
inline void add_library(const std::string& file, const std::string& library, double us) {
  using namespace measure;
  Store store = Store::open(file);
  const Ids ids = add_context(store);
  BaselineRecord record;
  record.run = ids.run;
  record.kernel = sqlite::Database(file).integer("SELECT max(kernel) FROM trial");
  record.library = library;
  record.median_us = us;
  record.samples = {us};
  store.append(record);
}

}  // namespace deplo::apps::report
