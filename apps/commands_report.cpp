#include <fmt/format.h>

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
  const auto folder = [&](const char* name, std::string& into, const char* kind) {
    command.add_option(name, into, fmt::format("write each plot as {} into this folder too", kind))
        ->type_name("FOLDER");
  };
  folder("--svg", flags->output.svg_folder, "SVG");
  folder("--png", flags->output.png_folder, "PNG (needs librsvg)");
  folder("--pdf", flags->output.pdf_folder, "PDF (needs librsvg)");
  command.callback([flags] { print_result(report(*flags)); });
}

}  // namespace deplo::apps
