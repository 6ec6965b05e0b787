#include <CLI/CLI.hpp>
#include <memory>

#include "apps/commands.h"
#include "apps/flags.h"
#include "apps/report/report.h"

namespace deplo::apps {

void add_report(CLI::App& command) {
  auto flags = std::make_shared<ReportFlags>();
  command.add_option("files", flags->files, "a store, two stores, or a comparison that `deplo compare --output` wrote")
      ->type_name("FILES");
  command.add_option("-o,--output", flags->output.html, "the page")->type_name("FILE")->capture_default_str();
  command.add_option("--kernel", flags->kernel, "of a store: only kernels with this name")->type_name("NAME");
  command.add_option("--svg", flags->output.svg_folder, "write each plot as SVG into this folder too")
      ->type_name("FOLDER");
  command.add_option("--png", flags->output.png_folder, "write each plot as PNG into this folder too (needs librsvg)")
      ->type_name("FOLDER");
  command.callback([flags] { print_result(report(*flags)); });
}

}  // namespace deplo::apps
