// The queries of docs/database.md: `deplo db sql` runs each on a store that has an answer to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "apps/run_program.h"
#include "core/file.h"
#include "measure/store_fixture.h"

namespace deplo::testing {
namespace {

using ::testing::SizeIs;
using Json = nlohmann::json;
using measure::Stage;

/// Returns the queries. A query's key is the beginning of the paragraph above it.
std::map<std::string, std::string> queries() {
  const std::string page = read_file(std::filesystem::path(DEPLO_SOURCE_DIR) / "docs/database.md");
  std::map<std::string, std::string> all;
  const std::string begin = "\n```sql\n", end = "\n```\n";
  for (std::size_t at = 0; (at = page.find(begin, at)) != std::string::npos;) {
    const std::size_t title = page.rfind("\n\n", at - 2) + 2;  // start of the paragraph above
    const std::size_t from = at + begin.size(), to = page.find(end, from);
    all[page.substr(title, 30)] = page.substr(from, to - from);
    at = to;
  }
  return all;
}

std::string loop(const std::string& op) {
  return "=== loop: unary ===\ninput x: f32[8]\ninput z: f32[8]\noutput y: f32[8]\nfor a0 in 0..8: # free\n"
         "  in0 = load x[a0]\n  in1 = load z[a0]\n  v0 = " +
         op + "(in0, in1)\n  y[a0] = v0\n";
}

class Queries : public ::testing::Test {
 protected:
  void SetUp() override {
    measure::Store store = measure::Store::open(file_);
    measure::Ids ids = measure::add_context(store);
    ids.kernel = store.add_kernel({"plus", loop("add")});
    ASSERT_EQ(ids.run, 1);
    ids_ = ids;
    screen(store, 0, "bm=1", 30, Status::ok);
    screen(store, 1, "bm=2", 40, Status::ok);
    screen(store, 2, "bm=4", 20, Status::ok);
    screen(store, 3, "bm=8", 0, Status::hang);
    confirm(store, 4, "bm=4", 22);
    screen(store, 9, "bm=4", 0, Status::worker_lost);  // a lost worker does not make the schedule invalid
    add_baseline(store);
    ids_.kernel = store.add_kernel({"minus", loop("subtract")});
    screen(store, 5, "bm=1", 50, Status::ok);
    // The query of a search's curve asks for kernel 1, which add_context() adds.
    ids_.kernel = 1;
    screen(store, 6, "bk=1", 9, Status::ok);
    screen(store, 7, "bk=2", 7, Status::ok);
    screen(store, 8, "bk=4", 8, Status::ok);
  }

  measure::TrialRecord trial(int ordinal, const std::string& trail, double us) const {
    measure::TrialRecord made = measure::some_trial(ids_, ordinal, trail, us);
    made.timing.samples = {us, us * 1.25};
    return made;
  }
  void screen(measure::Store& store, int ordinal, const std::string& trail, double us, Status status) {
    measure::TrialRecord made = trial(ordinal, trail, us);
    made.status = status;
    if (status != Status::ok) made.timing.samples.clear();
    store.append(made);
  }
  void confirm(measure::Store& store, int ordinal, const std::string& trail, double us) {
    measure::TrialRecord made = trial(ordinal, trail, us);
    made.stage = Stage::confirm;
    made.timing.samples.clear();
    // the 4th smallest is us - 4, the 12th us + 4
    for (int i = 15; i >= 1; --i) made.timing.samples.push_back(us - 8 + i);
    store.append(made);
  }
  void add_baseline(measure::Store& store) {
    measure::BaselineRecord baseline;
    baseline.run = ids_.run;
    baseline.kernel = ids_.kernel;
    baseline.library = "oneDNN";
    baseline.version = "2";
    baseline.precision = "fp32";
    baseline.median_us = 44;
    baseline.samples = {44};
    baseline.protocol = "p1";
    store.append(baseline);
  }

  Json rows(const std::string& title) {
    const auto all = queries();
    const auto found = all.lower_bound(title);
    if (found == all.end() || !found->first.starts_with(title)) {
      ADD_FAILURE() << "no query is called " << title;
      return Json::array();
    }
    const Ran ran = run_program({"deplo", "db", "sql", found->second, file_, "--json"});
    EXPECT_EQ(ran.code, 0) << title << ran.err;
    return ran.code == 0 ? Json::parse(ran.out) : Json::array();
  }

  Json first(const std::string& title, const std::string& column) {
    const Json all = rows(title);
    return all.empty() ? Json() : all[0].value(column, Json());
  }

  measure::TemporaryFolder folder_;
  const std::string file_ = folder_.file("a.db");
  measure::Ids ids_{};
};

TEST_F(Queries, ThereAreTenAndEachHasAnAnswer) {
  const auto all = queries();
  EXPECT_THAT(all, SizeIs(10));
  for (const auto& [title, query] : all) EXPECT_FALSE(rows(title).empty()) << title << "\n" << query;
}

TEST_F(Queries, SayWhatTheirTitlesSay) {
  const Json best = rows("The tuned cache");
  ASSERT_THAT(best, SizeIs(3));
  EXPECT_EQ(best[2]["name"], "plus");
  EXPECT_EQ(best[2]["us"], 22) << "confirmed goes before screened";
  const Json failed = rows("What went wrong");
  ASSERT_THAT(failed, SizeIs(2));
  EXPECT_EQ(failed[0]["status"], "hang");
  std::vector<double> curve;
  for (const Json& row : rows("Best so far")) curve.push_back(row["best_us"]);
  EXPECT_EQ(curve, (std::vector<double>{9, 7, 7}));
  EXPECT_EQ(first("How far the samp", "spread_percent"), 93.3) << "29 over 15";
  EXPECT_EQ(first("The 95 % interval", "low"), 18);
  EXPECT_EQ(first("The 95 % interval", "high"), 26);
  EXPECT_EQ(first("deplo's times next to", "ratio"), 2) << "44 over 22";
  EXPECT_EQ(first("What is never", "trail"), "bm=8");
  EXPECT_EQ(first("Kernels that sha", "names"), "plus, minus") << "a sum and a difference share one";
  EXPECT_EQ(first("Where the rows", "trials"), 10);
}

}  // namespace
}  // namespace deplo::testing
