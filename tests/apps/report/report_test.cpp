// Reports: what they read, refuse and write.
#include "apps/report/report.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "apps/report/bars.h"
#include "apps/report/chart.h"
#include "apps/report/comparison.h"
#include "apps/report/paint.h"
#include "apps/report/report_fixture.h"
#include "apps/report/scale.h"
#include "apps/report/tuning.h"
#include "apps/run_program.h"
#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"

namespace deplo::apps::report {
namespace {

using deplo::testing::How;
using deplo::testing::Ran;
using deplo::testing::run_program;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Report : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string page_of(const std::vector<std::string>& files) {
    report({files, "", {file("out.html"), "", "", ""}});
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
  EXPECT_THAT((Axis{"", 0, 3, false, Unit::count}.ticks()), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT((Axis{"", 0, 1, false, Unit::count}.ticks()), ElementsAre(0, 1));
  EXPECT_THAT((Axis{"", 1, 4, true, Unit::count}.ticks()), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT((Axis{"", 0, 1.3, false, Unit::percent}.ticks()),
              ElementsAre(0, 0.2, DoubleEq(0.4), DoubleEq(0.6), 0.8, 1));
  EXPECT_EQ(print_factor(1.834), "1.83×");
  EXPECT_EQ(print_factor(99.96), "100×");
  EXPECT_EQ(print_factor(1.2e6), "1.2e+06×");
  EXPECT_EQ(print(0.25, Unit::percent), "25 %");
  EXPECT_EQ(print(1500, Unit::microseconds), "1.5 ms");
  EXPECT_EQ(print(5400, Unit::seconds), "1.5 h");
}

TEST_F(Report, TextIsEscaped) {
  EXPECT_EQ(escape("a<b>&\"\n\x7f"), "a&lt;b&gt;&amp;&quot;  ");
  EXPECT_EQ(escape("µ×\xff\xc3"), "µ×\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(escape("\xf0\x9f\x99\x82"), "\xf0\x9f\x99\x82");
  // Each of these makes XML invalid as a whole: a surrogate, an overlong '/', a code point above the 17 planes, U+FFFF.
  const std::string none = "\xef\xbf\xbd";
  EXPECT_EQ(escape("\xed\xa0\x80"), none + none + none);
  EXPECT_EQ(escape("\xe0\x80\xaf"), none + none + none);
  EXPECT_EQ(escape("\xf4\x90\x80\x80"), none + none + none + none);
  EXPECT_EQ(escape("\xef\xbf\xbf"), none + none + none);
}

TEST_F(Report, TextIsWrapped) {
  EXPECT_THAT(wrap("short", 5), ElementsAre("short"));
  EXPECT_THAT(wrap("", 5), ElementsAre(""));
  EXPECT_THAT(wrap("blockify_launch.bm", 11), ElementsAre("blockify_", "launch.bm"));
  EXPECT_THAT(wrap("a × b × c", 6), ElementsAre("a × b ", "× c"));
  EXPECT_THAT(wrap("µµµµµµµµ", 5), ElementsAre("µµµµµ", "µµµ"));
  EXPECT_THAT(wrap("a.bbbbbbbbb", 8), ElementsAre("a.bbbbbb", "bbb")) << "no line less than half full";
  EXPECT_THAT(wrap("ab", 1), ElementsAre("a", "b"));
}

/// Returns all text of the figure, without the tooltips.
std::string text_of(const Figure& figure) {
  const std::string without = std::regex_replace(figure.body, std::regex("<title>[^<]*</title>"), "");
  return std::regex_replace(without, std::regex("<[^>]*>"), "");
}

TEST_F(Report, NamesAreNotCut) {
  for (const std::string& name :
       {std::string("matmul.K3584.M512.N3584"), std::string(60, 'k'), std::string(200, 'n')}) {
    EXPECT_THAT(text_of(bars("a", "", {{name, 1, 0, 0, 0, "1"}}, Axis{})), HasSubstr(name));
    EXPECT_THAT(text_of(factors("a", "", {{name, name, 2, 0, "2×"}})), HasSubstr(name + name));
    EXPECT_THAT(text_of(heat_map("a", "", {{name}, {name + "!"}, {{0.5}}})),
                AllOf(HasSubstr(name), HasSubstr(name + "!")));
    Chart chart("a", "", Axis{}, Axis{}, name.size());
    chart.line({0, 1}, {0, 1}, 0, name);
    EXPECT_THAT(text_of(chart.figure()), HasSubstr(name));
    EXPECT_THAT(standalone(chart.figure(), "k").svg, Not(HasSubstr("…")));
  }
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

// Whatever is done to the file, it is either read or refused with a message.
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
  for (const char* key : {"\"regret_curve\"", "\"selection_regret\""}) {
    std::string damaged = json;
    damaged[damaged.find(key) + 1] = 'R';
    EXPECT_THAT([&] { parse_comparison(damaged, "it"); }, ::testing::ThrowsMessage<Error>(HasSubstr("regret")));
  }
}

TEST_F(Report, AnUnknownOrderIsSaidWithItsPlace) {
  std::string json = print_comparison_json(small_comparison(folder_));
  json.replace(json.find("\"recorded\""), 10, "\"sideways\"");
  try {
    parse_comparison(json, "it");
    FAIL() << "an order that there is not";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "it/orders/0/order: expected an order (recorded, importance, reversed, shuffled), found 'sideways'");
  }
}

TEST_F(Report, NamesAndMessagesAreText) {
  fill_store(file("a.db"), 7, 60);
  const std::string page = page_of({file("a.db")});
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<b>")), HasSubstr("&lt;script&gt;")));
  for (const char* part : {"Every trial", "Best so far over the time", "Distribution", "share of the variance",
                           "build_error", "hang", "block", "The rules of this version of deplo cannot replay it"})
    EXPECT_THAT(page, HasSubstr(part));
  for (const char* loads : {"http:", "https:", "src=", "url(", "@import", "<script", "file:"})
    EXPECT_THAT(page, Not(HasSubstr(loads)));
}

TEST_F(Report, OnlyFailures) {
  fill_store(file("a.db"), 9, 0);
  const std::string page = page_of({file("a.db")});
  EXPECT_THAT(page,
              AllOf(HasSubstr("No schedule has a valid time."), HasSubstr("Failures"), Not(HasSubstr("Every trial"))));
}

TEST_F(Report, OfAKernelWithoutStatements) {
  measure::Store store = measure::Store::open(file("a.db"));
  store.append(measure::some_trial(measure::add_context(store), 0, "a.b=1", 1));
  EXPECT_THAT(page_of({file("a.db")}), HasSubstr("expected at least one output, found none"));
}

/// Makes a store of one kernel. `times` has each trial's time as screened, and its time as confirmed (0: not
/// confirmed).
void fill_stages(const std::string& file, const std::vector<std::pair<double, double>>& times) {
  measure::Store store = measure::Store::open(file);
  const measure::Ids ids = measure::add_context(store);
  for (const bool confirm : {false, true})
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double us = confirm ? times[i].second : times[i].first;
      if (us <= 0) continue;
      measure::TrialRecord trial = measure::some_trial(ids, 0, fmt::format("block.bm={}", i), us);
      if (confirm) trial.stage = measure::Stage::confirm;
      store.append(trial);
    }
}

// The untuned schedule is the first trial. Its line goes through that trial's dot, although it was slower when
// confirmed.
TEST_F(Report, PlotsOfTrialsAreOfOneStage) {
  fill_stages(file("a.db"), {{100, 130}, {120, 0}, {50, 80}});
  report({{file("a.db")}, "", {file("out.html"), file("svg"), "", ""}});
  const std::string svg = read_file(file("svg/matmul-4x4x4-best-over-trials.svg"));
  std::smatch dot, rule;
  ASSERT_TRUE(std::regex_search(svg, dot, std::regex("<path d=\"M[0-9.]+ ([0-9.]+)h0")));
  ASSERT_TRUE(std::regex_search(svg, rule, std::regex("<line class=\"rule\" x1=\"[0-9.]+\" y1=\"([0-9.]+)\"")));
  EXPECT_EQ(dot[1], rule[1]);
  EXPECT_THAT(svg, HasSubstr("as screened"));
  const std::string page = read_file(file("out.html"));
  EXPECT_THAT(page, AllOf(HasSubstr("80 µs confirmed on the full grid, 50 µs as screened"),
                          HasSubstr("130 µs confirmed on the full grid, 100 µs as screened"), HasSubstr("1.62×")));
}

TEST_F(Report, OnlyTimesOfOneStageAreCompared) {
  fill_stages(file("a.db"), {{100, 0}, {50, 80}});
  EXPECT_THAT(page_of({file("a.db")}),
              AllOf(HasSubstr("2.00×"), HasSubstr("<td>screened</td>"), HasSubstr("Pale bars:")));
  fill_stages(file("b.db"), {{100, 120}, {50, 80}});
  EXPECT_THAT(page_of({file("b.db")}),
              AllOf(HasSubstr("1.50×"), HasSubstr("<td>confirmed</td>"), Not(HasSubstr("Pale bars:"))));
}

// As in `deplo db best`: a later failure of the machine does not discard earlier times; a trial of another source does.
TEST_F(Report, TheBestIsThatOfTheEvidence) {
  fill_stages(file("a.db"), {{100, 120}, {50, 80}});
  const auto append = [&](Status status, const char* digest) {
    measure::Store store = measure::Store::open(file("a.db"));
    measure::TrialRecord trial = measure::some_trial(measure::add_context(store), 0, "block.bm=1", 60);
    trial.status = status;
    trial.digest = digest;
    store.append(trial);
  };
  append(Status::worker_lost, "d41d8cd98f00b204e9800998ecf8427e");  // the digest that some_trial() sets
  EXPECT_THAT(page_of({file("a.db")}), HasSubstr("The best schedule: 80 µs confirmed on the full grid, 50 µs as"));
  append(Status::ok, "another");
  EXPECT_THAT(page_of({file("a.db")}), HasSubstr("The best schedule: 120 µs confirmed on the full grid, 100 µs as"));
  EXPECT_THAT(run_program({"deplo", "db", "best", file("a.db")}).out, HasSubstr("120"));
}

TEST_F(Report, OpensWithTheSpeedUps) {
  fill_store(file("a.db"), 0, 30, "first");
  fill_store(file("a.db"), 5, 0, "no_valid_time");
  fill_store(file("a.db"), 0, 30, "second");
  add_library(file("a.db"), "onednn", 102.5);
  const std::string page = page_of({file("a.db")});
  const std::size_t bars = page.find("aria-label=\"Speed-up over the untuned schedule\""),
                    library = page.find("aria-label=\"Speed-up over onednn\"");
  ASSERT_NE(library, std::string::npos);
  EXPECT_LT(bars, library);
  EXPECT_LT(library, page.find("<table"));
  EXPECT_THAT(page, AllOf(HasSubstr("geometric mean of 2 kernels"), HasSubstr("Speed-up over onednn: 0.50×"),
                          HasSubstr("Kernels without a valid time (1): no_valid_time")));
}

TEST_F(Report, SharesOfFewTrialsHaveACaution) {
  fill_store(file("few.db"), 1, 40, "k");
  EXPECT_THAT(page_of({file("few.db")}), HasSubstr("Caution: only 40 valid trials, fewer than 50."));
  fill_store(file("enough.db"), 1, 50, "k");
  EXPECT_THAT(page_of({file("enough.db")}), AllOf(HasSubstr("share of the variance"), Not(HasSubstr("Caution"))));
}

// A damaged row is left out. If it was the best, the next one is the best.
TEST_F(Report, DamagedRowsAreNamed) {
  fill_store(file("a.db"), 2, 20, "k");
  fill_store(file("a.db"), 0, 10, "other");
  add_library(file("a.db"), "odd", 100);
  add_library(file("a.db"), "sound", 150);
  {
    measure::sqlite::Database database(file("a.db"));
    database.execute("PRAGMA ignore_check_constraints = ON");
    database.execute("UPDATE trial SET trail = 'garbage' || char(27) || '[31m' WHERE id = 5");
    database.execute("UPDATE trial SET status = 'fine' WHERE id = 6");
    database.execute("UPDATE trial SET samples = '[1,' WHERE id = 7");
    database.execute("UPDATE trial SET median_us = -1 WHERE id = 8");
    database.execute("UPDATE kernel SET text = 'x' || char(0) || '<b>' WHERE name = 'k'");
    database.execute("UPDATE baseline SET status = 'fine' WHERE library = 'odd'");
  }
  const Ran ran = run_program({"deplo", "report", file("a.db"), "-o", file("a.html")});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("left out 5 damaged rows"));
  const std::string page = read_file(file("a.html"));
  EXPECT_THAT(page,
              AllOf(HasSubstr("not shown: 5 "), HasSubstr("trial 5 of k: expected knob=value, found 'garbage [31m'"),
                    HasSubstr("trial 6 of k: "), HasSubstr("trial 7 of k: expected samples"),
                    HasSubstr("trial 8 of k: expected a time, found -1"), HasSubstr("baseline 1 of other")));
  EXPECT_THAT(page, AllOf(HasSubstr("The best schedule: 209 µs"), HasSubstr("sound 150 µs"),
                          HasSubstr("<h2>other</h2>"), Not(HasSubstr("\x1b"))));
}

TEST_F(Report, AStoreOfDamagedRowsOnly) {
  fill_store(file("a.db"), 0, 3, "k");
  measure::sqlite::Database(file("a.db")).execute("UPDATE trial SET trail = '='");
  EXPECT_THAT(page_of({file("a.db")}), AllOf(HasSubstr("not shown: 3 "), HasSubstr("No schedule has a valid time.")));
}

// Kernels are read one at a time, and their trials are kept without messages and samples. So 40,000 trials in a store
// of 90 MB fit in 100 MB, of which the program itself takes 40.
TEST_F(Report, ALargeStoreFitsIntoLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes terabytes of address space";
#endif
  {
    measure::Store store = measure::Store::open(file("a.db"));
    const measure::Ids ids = measure::add_context(store);
    const std::vector<double> samples(50, 123.456789012345);
    std::vector<measure::TrialRecord> trials;
    for (int i = 0; i < 40'000; ++i) {
      measure::TrialRecord trial =
          measure::some_trial(ids, i, fmt::format("block.bm={} block.bn={}", i % 200, i / 200), 10);
      trial.timing.samples = samples;
      if (i % 2 == 0) {
        trial.status = Status::build_error;
        trial.message.assign(2500, 'x');
        trial.timing.median_us = trial.timing.fidelity = 0;
      }
      trials.push_back(std::move(trial));
      if (trials.size() == 1000) store.append(std::exchange(trials, {}));
    }
  }
  const Ran ran = run_program({"deplo", "report", file("a.db"), "-o", file("a.html")}, {.max_memory = 100'000'000});
  EXPECT_EQ(ran.code, 0) << ran.err;
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
  measure::sqlite::Database writer(file("a.db"));
  writer.execute("BEGIN IMMEDIATE");
  writer.execute("DELETE FROM trial WHERE id > 5");
  EXPECT_THAT(page_of({file("a.db")}), HasSubstr("<td>21</td>"));
}

// A store as a user tunes it: the rules can read its schedules, and the plots can be written as separate files.
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

// Two runs write the same bytes, even if names are hostile.
TEST_F(Report, PngAndPdf) {
  fill_store(file("a.db"), 2, 20, "k");
  fill_store(file("a.db"), 2, 20, hostile + "\xed\xa0\x80\xef\xbf\xbf\x01");
  for (const char* each : {"1", "2"}) {
    const Ran ran = run_program({"deplo", "report", file("a.db"), "-o", file("a.html"), "--png",
                                 file(std::string("png") + each), "--pdf", file(std::string("pdf") + each)});
    if (ran.code == 2 && ran.err.find("package librsvg2-2") != std::string::npos) GTEST_SKIP() << ran.err;
    ASSERT_EQ(ran.code, 0) << ran.err;
  }
  const std::string png = read_file(file("png1/k-distribution.png"));
  ASSERT_GT(png.size(), 24u);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  // The header's width is big-endian (RFC 2083, 11.2.1): 360 pixels, enlarged three times.
  EXPECT_EQ(static_cast<unsigned char>(png[18]) * 256 + static_cast<unsigned char>(png[19]), 1080);
  const std::string pdf = read_file(file("pdf1/k-distribution.pdf"));
  EXPECT_THAT(pdf, AllOf(HasSubstr("%PDF-1."), HasSubstr("%%EOF")));
  // cairo 1.18 compresses the objects that give the size of a page.
  EXPECT_THAT(pdf, AnyOf(HasSubstr("/MediaBox [ 0 0 270 "), HasSubstr("/Type /ObjStm")));
  EXPECT_THAT(pdf, HasSubstr("/FontFile")) << "text as text";
  int files = 0;
  for (const char* kind : {"png", "pdf"})
    for (const auto& each : std::filesystem::directory_iterator(file(std::string(kind) + "1"))) {
      ++files;
      EXPECT_EQ(read_file(each.path()),
                read_file(file(std::string(kind) + "2") + "/" + each.path().filename().string()))
          << each.path();
    }
  EXPECT_GT(files, 20);
}

TEST_F(Report, BadInput) {
  fill_store(file("good.db"), 1, 5, "k");
  const std::string text = deplo::testing::write_file(folder_.path(), "text", "hello\n");
  measure::Store::open(file("empty.db"));
  fill_store(file("new.db"), 1, 1);
  measure::sqlite::Database(file("new.db")).execute("PRAGMA user_version = 99");
  deplo::testing::write_file(folder_.path(), "broken.db", "SQLite format 3" + std::string(5000, 'x'));
  const std::string out = "--output=" + file("o.html");
  refuses({}, 1, "expected a store or a comparison, found none");
  refuses({file("none.db"), out}, 1, "found no such file");
  refuses({text, out}, 1, "expected a store, or a comparison");
  refuses({folder_.path().string(), out}, 1, "expected a file, found a folder");
  refuses({file("empty.db"), out}, 1, "expected a store with trials, found none");
  refuses({file("new.db"), out}, 1, "use a newer deplo");
  refuses({file("broken.db"), out}, 1, "broken.db");
  refuses({file("good.db"), "--kernel", "x", out}, 1, "expected a kernel of the store (k, matmul 4x4x4), found 'x'");
  refuses({file("good.db"), text, out}, 1, "expected a store, found something else; only stores");
  refuses({file("good.db"), file("good.db"), file("good.db"), out}, 1, "found 3 files");
  refuses({file("good.db"), "-o", file("good.db")}, 1, "expected a file other than the input");
  refuses({file("good.db"), "-o", file("empty.db")}, 1, "found a database");
  refuses({file("good.db"), "-o", file("no/such/x.html")}, 2, "cannot be written: No such file");
  refuses({file("good.db"), "-o", "/dev/full"}, 2, "cannot be written: No space left");
  refuses({file("good.db"), out, "--svg", text}, 2, "cannot create the folder");
  refuses({file("good.db"), out, "--svg", std::string(300, 'n')}, 2, "cannot create the folder: File name too long");
  const std::string json =
      deplo::testing::write_file(folder_.path(), "c.json", print_comparison_json(small_comparison(folder_)));
  refuses({json, out}, 2, "cannot be written: File too large", {.largest_file = 4096});
  refuses({json, file("good.db"), out}, 1, "expected a store, found something else; only stores");
  refuses({json, "--kernel", "x", out}, 1, "expected a store, found a comparison");
  EXPECT_EQ(run_program({"deplo", "report", file("good.db"), out}).code, 0) << "it was not harmed";
}

}  // namespace
}  // namespace deplo::apps::report
