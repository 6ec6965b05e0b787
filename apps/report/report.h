// `deplo report`: shows the results of a tuner or a comparison as a page of plots.
#pragma once
#include <string>
#include <vector>

#include "apps/report/export.h"

namespace deplo::apps::report {

struct ReportFlags {
  std::vector<std::string> files;  // one or two stores, or one comparison
  std::string kernel;              // only the kernels of a store with this name; "": all
  ReportFiles output{"report.html", "", "", ""};
};
/// Writes the files. Returns one line that says where they are. Throws Error.
std::string report(const ReportFlags&);

}  // namespace deplo::apps::report
