// Reports in a browser (headless Chromium): no console messages, no loaded resources, no horizontal scrolling, and no
// text that is cut off or overlaps other text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/report/bars.h"
#include "apps/report/chart.h"
#include "apps/report/comparison.h"
#include "apps/report/export.h"
#include "apps/report/report_fixture.h"
#include "apps/report/tuning.h"
#include "apps/run_program.h"
#include "core/file.h"

namespace deplo::apps::report {
namespace {

/// Returns the path of Chromium in PATH, or "" if there is none.
std::string find_chromium() {
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (const auto file = std::filesystem::path(folder) / name; std::filesystem::exists(file)) return file.string();
  return "";
}

// Shows the page in windows of two widths with every <details> open, and writes what it finds as JSON into its own
// body. A label's box is as high as its line, but the glyphs are in the middle. So the search for overlaps ignores a
// third of the height.
constexpr const char* inspector =
    R"(<!DOCTYPE html><body><iframe src="page.html" style="width:1280px;height:900px"></iframe>
<iframe src="page.html" style="width:390px;height:800px"></iframe><script>
function look(frame) {
  const page = frame.contentDocument, root = page.documentElement, found = {width: frame.clientWidth, texts: 0, clipped: [], overlaps: []};
  page.querySelectorAll('details').forEach(each => each.open = true);
  found.scrolls = root.scrollWidth > root.clientWidth || page.body.scrollWidth > root.clientWidth;
  found.loaded = frame.contentWindow.performance.getEntriesByType('resource').map(each => each.name);
  for (const svg of page.querySelectorAll('svg.figure')) {
    const edge = svg.getBoundingClientRect(), boxes = [];
    for (const text of svg.querySelectorAll('text')) {
      const r = text.getBoundingClientRect(), name = svg.getAttribute('aria-label') + ': ' + text.textContent;
      if (r.width == 0) continue;
      ++found.texts;
      if (r.left < edge.left - 1 || r.right > edge.right + 1 || r.top < edge.top - 2 || r.bottom > edge.bottom + 2)
        found.clipped.push(name);
      if (text.parentNode.hasAttribute('transform')) continue;  // turned: its box is not where it is
      const cut = r.height / 6;
      for (const o of boxes)
        if (Math.min(o.right, r.right) - Math.max(o.left, r.left) > 1 && Math.min(o.bottom, r.bottom - cut) - Math.max(o.top, r.top + cut) > 0.5)
          found.overlaps.push(name + ' / ' + o.name);
      boxes.push({left: r.left, right: r.right, top: r.top + cut, bottom: r.bottom - cut, name});
    }
  }
  return found;
}
onload = () => { document.body.textContent = JSON.stringify([...document.querySelectorAll('iframe')].map(look)); };
</script></body>)";

class Browser : public ::testing::Test {
 protected:
  void SetUp() override {
    chromium_ = find_chromium();
    if (chromium_.empty()) GTEST_SKIP() << "no Chromium in PATH (the distribution's package chromium)";
  }

  void expect_readable(const Page& page) {
    write_report(page, {folder_.file("page.html"), "", "", ""});
    const std::string inspect = deplo::testing::write_file(folder_.path(), "inspect.html", inspector);
    const std::string command = fmt::format(
        "timeout 120 '{}' --headless=new --no-sandbox --disable-gpu --disable-background-networking "
        "--user-data-dir='{}' --allow-file-access-from-files --enable-logging=stderr --dump-dom 'file://{}' "
        "> '{}' 2> '{}'",
        chromium_, folder_.file("profile"), inspect, folder_.file("dom"), folder_.file("log"));
    ASSERT_EQ(std::system(command.c_str()), 0) << read_file(folder_.file("log"));
    EXPECT_THAT(read_file(folder_.file("log")), ::testing::Not(::testing::HasSubstr("CONSOLE")));
    const std::string dom = read_file(folder_.file("dom"));
    const std::size_t from = dom.find('['), to = dom.rfind(']');
    ASSERT_TRUE(from < to && to != std::string::npos) << dom;
    const auto found = nlohmann::json::parse(dom.substr(from, to + 1 - from), nullptr, false);
    ASSERT_EQ(found.size(), 2u) << dom;
    for (const auto& window : found) expect_readable(window);
  }

 private:
  static void expect_readable(const nlohmann::json& window) {
    SCOPED_TRACE(window.dump());
    EXPECT_GT(window["texts"].get<int>(), 30);
    EXPECT_FALSE(window["scrolls"].get<bool>());
    for (const char* list : {"loaded", "clipped", "overlaps"}) EXPECT_TRUE(window[list].empty()) << list;
  }

 protected:
  measure::TemporaryFolder folder_;
  std::string chromium_;
};

TEST_F(Browser, LongNames) {
  const std::string name = "sdpa.tinyllama.scaled_dot_product_attention_masked.K3584.M512";
  Page page("Long names");
  std::vector<Figure> figures = {
      bars("a", "Bars", {{name, 1, 0, 0, 0, "1"}, {"", 2, 1, 2, 1, "2"}, {"short", 3, 0, 0, 0, "3"}}, Axis{"", 0, 3}),
      bars("b", "Speed-up", {{"matmul.K3584.M512.N3584", 0.5, 0, 0, 0, "0.50×"}}, Axis{"", 0.4, 30, true}),
      factors("c", "Factors", {{name, name, 2, 0, "2×"}, {name, "1", 3, 0, "3×"}}),
      heat_map("d", "Heat map", {{name, "short"}, {name, "x"}, {{0.5, 1}, {-1, 0}}})};
  for (const std::size_t letters : {10u, 16u, 60u}) {
    Chart chart(fmt::format("e{}", letters), "Lines", Axis{"trials", 0, 3, false, Unit::count}, Axis{}, letters);
    for (std::size_t i = 0; i < 3; ++i) chart.line({0, 3}, {0.5, 0.5}, i, name.substr(0, letters));
    figures.push_back(chart.figure());
  }
  page.plots("all", std::move(figures));
  expect_readable(page);
}

TEST_F(Browser, AComparison) { expect_readable(comparison_page(small_comparison(folder_))); }

TEST_F(Browser, AStoreAndTwo) {
  fill_store(folder_.file("a.db"), 7, 60);
  fill_store(folder_.file("b.db"), 0, 40);
  fill_store(folder_.file("b.db"), 12, 3, "a_kernel_whose_name_is_longer_than_any_window_of_a_telephone_is_wide");
  add_library(folder_.file("b.db"), "the_library_of_a_vendor", 300);
  std::vector<TunedStore> stores;
  stores.emplace_back(folder_.file("a.db"), "");
  expect_readable(tuning_page(stores));
  stores.emplace_back(folder_.file("b.db"), "");
  expect_readable(tuning_page(stores));
}

}  // namespace
}  // namespace deplo::apps::report
