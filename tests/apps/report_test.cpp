// Reports: what is read, what is refused, what is written.
#include "apps/report/report.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "apps/report/comparison.h"
#include "apps/report/png.h"
#include "apps/report/scale.h"
#include "apps/report/tuning.h"
#include "apps/report_fixture.h"
#include "apps/run_program.h"
#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "rules/rule.h"

namespace deplo::apps {
namespace {

using deplo::testing::How;
using deplo::testing::Ran;
using deplo::testing::run_program;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Report : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string page_of(const std::vector<std::string>& files) {
    report({files, "", {file("out.html"), "", ""}});
    return read_file(file("out.html"));
  }
  void refuses(const std::vector<std::string>& words, int code, const std::string& text, const How& how = {}) {
    std::vector<std::string> all{"deplo", "report"};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = run_program(all, how);
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(text));
    EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << "one line: " << ran.err;
  }

  measure::TemporaryFolder folder_;
};

TEST_F(Report, TicksAreRoundInTheirUnit) {
  EXPECT_THAT((Axis{"", 0, 10}.ticks()), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT((Axis{"", 0, 7200, false, Unit::seconds}.ticks()), ElementsAre(0, 1800, 3600, 5400, 7200));
  EXPECT_THAT((Axis{"", 3, 2000, true}.ticks()), ElementsAre(10, 100, 1000));
  EXPECT_THAT((Axis{"", 40, 300, true}.ticks()), ElementsAre(50, 100, 200));
  for (const auto& [low, high] : {std::pair{1e6, 1e6}, {1e16, 1e16 + 2}, {0.0, 0.0}, {-1e-300, 1e-300}, {1.0, 1e300}})
    EXPECT_LE(around("", low, high, false, Unit::none).ticks().size(), 9u) << low;
  for (const double high : {1.0, 1.001, 1e22})
    EXPECT_GE(around("", 1, high, true, Unit::none).ticks().size(), 1u) << high;
  EXPECT_EQ(print(0.25, Unit::percent), "25 %");
  EXPECT_EQ(print(1500, Unit::microseconds), "1.5 ms");
  EXPECT_EQ(print(5400, Unit::seconds), "1.5 h");
}

TEST_F(Report, TextIsEscapedAndShortened) {
  EXPECT_EQ(escape("a<b>&\"\n\x7f"), "a&lt;b&gt;&amp;&quot;  ");
  EXPECT_EQ(escape("µ×\xff\xc3"), "µ×\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(shorten("blockify_launch.bm", 11), "block…ch.bm");
  EXPECT_EQ(shorten("µµµµµµµµ", 5), "µµ…µµ");
  EXPECT_EQ(shorten("short", 5), "short");
}

TEST_F(Report, EveryRuleHasWords) {
  for (const rules::Rule* rule : rules::pipeline()) EXPECT_NE(rule_words(rule->name), "") << rule->name;
}

TEST_F(Report, AComparisonIsTheSameFromItsFile) {
  const Comparison comparison = small_comparison(folder_);
  const std::string json = print_comparison_json(comparison);
  const Comparison again = parse_comparison(json, "it");
  EXPECT_EQ(print_comparison_json(again), json);
  const std::string page = comparison_page(comparison).html();
  EXPECT_EQ(comparison_page(again).html(), page);
  for (const char* part : {"Score over time", "(ECDF)", "Landscape", "Score of each strategy on each space", "Knobs",
                           "Best so far", "&lt;i&gt;&amp;", "Levels reversed"})
    EXPECT_THAT(page, HasSubstr(part));
}

// Whatever is done to the file, it is read, or refused in words.
TEST_F(Report, DamagedComparisonsAreRefused) {
  const std::string json = print_comparison_json(small_comparison(folder_));
  Rng rng(5);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = json;
    const std::size_t at = rng.below(json.size());
    if (i % 3 == 0)
      damaged.resize(at);
    else if (i % 3 == 1)
      damaged[at] = static_cast<char>("0-9e.,]}{[\"ntf"[rng.below(13)]);
    else
      damaged.erase(at, rng.below(200));
    try {
      comparison_page(parse_comparison(damaged, "it"));
    } catch (const Error& error) {
      ++refused;
      EXPECT_THAT(error.what(), HasSubstr("it")) << i;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(Report, NamesAndMessagesAreText) {
  fill_store(file("a.db"), 7, 60);
  const std::string page = page_of({file("a.db")});
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<b>")), HasSubstr("&lt;script&gt;")));
  for (const char* part : {"Every trial", "Best so far over the time", "Distribution", "share of the variance",
                           "build_error", "hang", "block", "The rules of this program do not read it"})
    EXPECT_THAT(page, HasSubstr(part));
  for (const char* loads : {"http:", "https:", "src=", "url(", "@import", "<script", "file:"})
    EXPECT_THAT(page, Not(HasSubstr(loads)));
}

TEST_F(Report, OnlyFailures) {
  fill_store(file("a.db"), 9, 0);
  const std::string page = page_of({file("a.db")});
  EXPECT_THAT(page, AllOf(HasSubstr("No schedule of it has a valid time."), HasSubstr("Failures"),
                          Not(HasSubstr("Every trial"))));
}

TEST_F(Report, OfAKernelWithoutStatements) {
  measure::Store store = measure::Store::open(file("a.db"));
  store.append(measure::some_trial(measure::add_context(store), 0, "a.b=1", 1));
  EXPECT_THAT(page_of({file("a.db")}), HasSubstr("expected at least one output, found none"));
}

TEST_F(Report, TwoStoresBesideEachOther) {
  fill_store(file("a.db"), 3, 30, "same");
  fill_store(file("b.db"), 0, 40, "same");
  fill_store(file("b.db"), 0, 4, "other");
  const std::string page = page_of({file("a.db"), file("b.db")});
  EXPECT_THAT(page, AllOf(HasSubstr("best A / best B"), HasSubstr("best of B"), HasSubstr("build_error, A")));
  EXPECT_THAT(page, HasSubstr("A: not in this store"));
}

TEST_F(Report, OfAStoreThatIsBeingWritten) {
  fill_store(file("a.db"), 1, 20, "k");
  measure::Database writer(file("a.db"));
  writer.execute("BEGIN IMMEDIATE");
  writer.execute("DELETE FROM trial WHERE id > 5");
  EXPECT_THAT(page_of({file("a.db")}), HasSubstr("<td>21</td>"));
}

// As a user tunes: the schedule is read by the rules, and the plots are files of their own.
TEST_F(Report, OfARealRun) {
  const std::string experiment =
      deplo::testing::write_file(folder_.path(), "x.yaml",
                                 "device: interpreter\nsearch: {strategy: random}\nbudget: {trials: 5, time: 30}\n"
                                 "kernels:\n  - {kernel: gelu, symbols: {M: 2, N: 12}}\n");
  ASSERT_EQ(run_program({"deplo-tune", "--quiet", "--store", file("s.db"), "--config", experiment}).code, 0);
  const Ran ran = run_program({"deplo", "report", file("s.db"), "-o", file("s.html"), "--svg", file("svg")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("plots"));
  EXPECT_THAT(read_file(file("s.html")), AllOf(HasSubstr("As Tile IR"), HasSubstr("=== tile: "),
                                               HasSubstr("blockify_launch"), HasSubstr("speed-up"), HasSubstr("5")));
  int files = 0;
  for (const auto& each : std::filesystem::directory_iterator(file("svg"))) {
    ++files;
    EXPECT_THAT(read_file(each.path()), AllOf(HasSubstr("<svg xmlns"), Not(HasSubstr("var("))));
  }
  EXPECT_THAT(ran.out, HasSubstr(fmt::format(": {} plots", files)));
}

TEST_F(Report, Png) {
  fill_store(file("a.db"), 2, 20, "k");
  const Ran ran = run_program({"deplo", "report", file("a.db"), "-o", file("a.html"), "--png", file("png")});
  if (ran.code == 2 && ran.err.find("package librsvg2-2") != std::string::npos) GTEST_SKIP() << ran.err;
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string png = read_file(file("png/k-distribution.png"));
  ASSERT_GT(png.size(), 24u);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  // The header's width, big-endian (RFC 2083, 11.2.1): 360 pixels, each three times.
  EXPECT_EQ(static_cast<unsigned char>(png[18]) * 256 + static_cast<unsigned char>(png[19]), 1080);
}

TEST_F(Report, BadInput) {
  fill_store(file("good.db"), 1, 5, "k");
  const std::string text = deplo::testing::write_file(folder_.path(), "text", "hello\n");
  measure::Store::open(file("empty.db"));
  fill_store(file("new.db"), 1, 1);
  measure::Database(file("new.db")).execute("PRAGMA user_version = 99");
  deplo::testing::write_file(folder_.path(), "broken.db", "SQLite format 3" + std::string(5000, 'x'));
  const std::string out = "--output=" + file("o.html");
  refuses({}, 1, "expected a store or a comparison, found none");
  refuses({file("none.db"), out}, 1, "found no such file");
  refuses({text, out}, 1, "expected a store, or a comparison");
  refuses({folder_.path().string(), out}, 1, "expected a file, found a folder");
  refuses({file("empty.db"), out}, 1, "expected a store with trials, found none");
  refuses({file("new.db"), out}, 1, "use a newer deplo");
  refuses({file("broken.db"), out}, 1, "broken.db");
  refuses({file("good.db"), "--kernel", "x", out}, 1, "of a kernel 'x'");
  refuses({file("good.db"), text, out}, 1, "expected a store beside the other one");
  refuses({file("good.db"), file("good.db"), file("good.db"), out}, 1, "found 3 files");
  refuses({file("good.db"), "-o", file("good.db")}, 1, "expected another file than the one that is read");
  refuses({file("good.db"), "-o", file("empty.db")}, 1, "found a database");
  refuses({file("good.db"), "-o", file("no/such/x.html")}, 2, "cannot be written: No such file");
  refuses({file("good.db"), "-o", "/dev/full"}, 2, "cannot be written: No space left");
  refuses({file("good.db"), out, "--svg", text}, 2, "expected a folder");
  const std::string json =
      deplo::testing::write_file(folder_.path(), "c.json", print_comparison_json(small_comparison(folder_)));
  refuses({json, out}, 2, "cannot be written: File too large", {.largest_file = 4096});
  refuses({json, file("good.db"), out}, 1, "expected a store beside the other one");
  refuses({json, "--kernel", "x", out}, 1, "expected a store, found a comparison");
  EXPECT_EQ(run_program({"deplo", "report", file("good.db"), out}).code, 0) << "it was not harmed";
}

}  // namespace
}  // namespace deplo::apps
