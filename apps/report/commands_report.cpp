#include <fmt/format.h>

#include <memory>

#include "apps/cli/commands.h"
#include "apps/cli/flags.h"
#include "apps/report/report.h"

namespace deplo::apps {

void add_report(Command command) {
  auto flags = std::make_shared<report::ReportFlags>();
  command.describe(
      "Draw a store or a comparison as an HTML page with plots.\nThe page of a store shows each kernel's search, "
      "times, knobs, best schedule and failures; two stores stand side by side. The page needs no network "
      "(docs/report.md).");
  command.option("files", flags->files, "FILE [FILE]",
                 "A store, two stores, or a file written by `deplo compare --output`.");
  command.option("-o,--output", flags->output.html, "FILE", "Write the page to FILE.").show_default();
  command.option("--kernel", flags->kernel, "NAME",
                 "Stores only: draw only this kernel (a name, its beginning, or a pattern).");
  const auto folder = [&](const char* name, std::string& into, const char* kind) {
    command.option(name, into, "FOLDER", fmt::format("Also write each plot as {} into this folder.", kind));
  };
  folder("--svg", flags->output.svg_folder, "SVG");
  folder("--png", flags->output.png_folder, "PNG (needs librsvg)");
  folder("--pdf", flags->output.pdf_folder, "PDF (needs librsvg)");
  command.examples(
      "deplo report deplo.db\n"
      "deplo report before.db after.db --kernel matmul -o both.html --png plots\n"
      "deplo compare --spaces spaces/ --output result.json && deplo report result.json");
  command.run([flags] { print_result(report::report(*flags)); });
}

}  // namespace deplo::apps
