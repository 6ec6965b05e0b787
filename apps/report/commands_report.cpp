#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/report/report.h"

namespace deplo::apps {

void add_report(CLI::App& command) {
  auto flags = std::make_shared<ReportFlags>();
  command.description(
      "Draw a store or a comparison as an HTML page with plots.\nThe page of a store shows each kernel's search, "
      "times, knobs, best schedule and failures; two stores stand side by side. The page needs no network "
      "(docs/report.md).");
  command.add_option("files", flags->files, "A store, two stores, or a file written by `deplo compare --output`.")
      ->type_name("FILE [FILE]");
  command.add_option("-o,--output", flags->output.html, "Write the page to FILE.")
      ->type_name("FILE")
      ->capture_default_str();
  command
      .add_option("--kernel", flags->kernel,
                  "Stores only: draw only this kernel (a name, its beginning, or a pattern).")
      ->type_name("NAME");
  const auto folder = [&](const char* name, std::string& into, const char* kind) {
    command.add_option(name, into, fmt::format("Also write each plot as {} into this folder.", kind))
        ->type_name("FOLDER");
  };
  folder("--svg", flags->output.svg_folder, "SVG");
  folder("--png", flags->output.png_folder, "PNG (needs librsvg)");
  folder("--pdf", flags->output.pdf_folder, "PDF (needs librsvg)");
  command.footer(
      "deplo report deplo.db\n"
      "deplo report before.db after.db --kernel matmul -o both.html --png plots\n"
      "deplo compare --spaces spaces/ --output result.json && deplo report result.json");
  command.callback([flags] { print_result(report(*flags)); });
}

}  // namespace deplo::apps
