// The files of a kernel that the user wrote.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "ir/types/fill.h"

namespace deplo::engine::foreign {

/// The files as a command line names them.
struct Files {
  std::string space;        // in the T1 format or YAML
  std::string kernel = {};  // "": the file that the space names
};

/// The user's value for an argument. It replaces FillType and FillValue of the space. Exactly one of the last three
/// members is set.
struct Given {
  std::string place;                  // for messages
  std::string file = {};              // a .npy file
  std::optional<ir::Fill> fill = {};  // for an array
  std::string values = {};            // for a scalar: a number, or a list of numbers in Python's syntax
};
using GivenArguments = std::map<std::string, Given, std::less<>>;

}  // namespace deplo::engine::foreign
