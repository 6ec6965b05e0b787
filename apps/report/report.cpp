#include "apps/report/report.h"

#include <fmt/format.h>

#include <filesystem>

#include "apps/report/comparison.h"
#include "apps/report/tuning.h"
#include "core/error.h"
#include "core/file.h"
#include "engine/learn/recorded.h"
#include "measure/store/pack.h"

namespace deplo::apps::report {
namespace {

namespace fs = std::filesystem;

void check_file(const std::string& file, const ReportFiles& output) {
  std::error_code error;
  if (!fs::exists(file, error)) throw Error(file + ": expected a store or a comparison, found no such file");
  if (fs::equivalent(file, output.html, error))
    throw Error(fmt::format("--output {}: expected a file other than the input, found the same", output.html));
}

bool has_trials(const std::string& file) { return engine::is_store(file) || measure::is_pack(file); }

/// Makes the page. Adds the number of rows that it leaves out to `damaged`.
Page page_of(const ReportFlags& flags, std::size_t& damaged) {
  if (flags.files.size() == 1 && !has_trials(flags.files[0])) {
    if (!flags.kernel.empty()) throw Error("--kernel: expected a store, found a comparison");
    return comparison_page(parse_comparison(read_file(flags.files[0]), flags.files[0]));
  }
  std::vector<TunedStore> stores;
  for (const std::string& file : flags.files) {
    if (!has_trials(file))
      throw Error(file + ": expected a store, found something else; only stores can be drawn together");
    stores.emplace_back(file, flags.kernel);
  }
  Page page = tuning_page(stores);
  for (const TunedStore& store : stores) damaged += store.damaged().size();
  return page;
}

}  // namespace

std::string report(const ReportFlags& flags) {
  if (flags.files.empty()) throw Error("expected a store or a comparison, found none; see --help");
  if (flags.files.size() > 2)
    throw Error(fmt::format("expected one or two stores, found {} files", flags.files.size()));
  for (const std::string& file : flags.files) check_file(file, flags.output);
  std::size_t damaged = 0;
  const Page page = page_of(flags, damaged);
  write_report(page, flags.output);
  std::string places = flags.output.html;
  for (const std::string& folder : {flags.output.svg_folder, flags.output.png_folder, flags.output.pdf_folder})
    if (!folder.empty()) places += ", " + folder;
  const std::string without = damaged == 0 ? ""
                                           : fmt::format("; left out {} damaged {} of the store, listed on the page",
                                                         damaged, damaged == 1 ? "row" : "rows");
  return fmt::format("{}: {} plots{}\n", places, page.all_plots().size(), without);
}

}  // namespace deplo::apps::report
