// The files of a kernel that its user wrote.
#pragma once
#include <string>

namespace deplo::engine::foreign {

/// The files, and what a command line says of them.
struct Files {
  std::string space;        // T1 or YAML
  std::string kernel = {};  // "": the one that the space names
};

}  // namespace deplo::engine::foreign
