// deplo report: what a tuner or a comparison found, as a page of plots.
#pragma once
#include <string>
#include <vector>

#include "apps/report/export.h"

namespace deplo::apps::report {

struct ReportFlags {
  std::vector<std::string> files;  // one or two stores, or one comparison
  std::string kernel;              // of a store: only those with this name; "": all
  ReportFiles output{"report.html", "", "", ""};
};
/// Writes the files. One line that says where they are. Throws Error.
std::string report(const ReportFlags&);

}  // namespace deplo::apps::report
