// Man pages of the programs, one for each command: deplo(1), deplo-tune(1), deplo-db-best(1), …
#pragma once
#include <string>
#include <vector>

#include "apps/cli/command_line.h"

namespace deplo::apps {

struct ManPage {
  std::string file;  // "deplo-db-best.1"
  std::string text;  // in the format of man(7)
};

/// Returns the pages of all commands. They have the same bytes on every machine: no dates, no folders of the user.
std::vector<ManPage> man_pages(const CommandText& program);

}  // namespace deplo::apps
