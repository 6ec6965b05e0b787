// Writes a report: the page, and a file for each plot.
#pragma once
#include <string>

#include "apps/report/page.h"

namespace deplo::apps::report {

/// The outputs of a report; "": none. Folders are created.
struct ReportFiles {
  std::string html, svg_folder, png_folder, pdf_folder;
};
/// Writes the outputs. Throws Error(environment) in one line if a file cannot be written.
void write_report(const Page&, const ReportFiles&);

}  // namespace deplo::apps::report
