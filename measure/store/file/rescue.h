// Private to measure/store: saves the contents of a store whose files were deleted or overwritten while it was in use.
#pragma once
#include <string>

#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// A new file with a sound store: FILE.rescued, or FILE.rescued-2, … if that exists. If it cannot be created in FILE's
/// folder, it is in the folder for temporary files.
struct Rescued {
  std::string file;
  bool whole = false;  // it has the whole store; else only the rows of `own`
};

/// Saves a store in a new file. `lost`: the store's connection; nullptr if the store cannot be read through it. `own`:
/// a store with the rows that the caller wrote. Throws Error(environment) if no file can be written.
Rescued rescue(const sqlite::Database* lost, sqlite::Database& own, const std::string& path);

}  // namespace deplo::measure
