// The files of a kernel that its user wrote.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "ir/types/fill.h"

namespace deplo::engine::foreign {

/// The files, and what a command line says of them.
struct Files {
  std::string space;        // T1 or YAML
  std::string kernel = {};  // "": the one that the space names
};

/// What a user says of an argument, in place of the space's FillType and FillValue. One of the last three is set.
struct Given {
  std::string place;                  // for messages
  std::string file = {};              // .npy
  std::optional<ir::Fill> fill = {};  // of an array
  std::string values = {};            // of a scalar: a number, or a list of numbers as Python writes it
};
using GivenArguments = std::map<std::string, Given, std::less<>>;

}  // namespace deplo::engine::foreign
