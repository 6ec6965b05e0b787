// Private to measure/store: saves what a store holds whose files were deleted or overwritten while it was written to.
#pragma once
#include <string>

#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

/// A new file with a sound store: FILE.rescued, or FILE.rescued-2, … where there is one; in the folder for temporary
/// files where none can be made beside it.
struct Rescued {
  std::string file;
  bool whole = false;  // all of the store; else what `own` has
};

/// `lost`: all that can be read of the store through its connection; nullptr: nothing can. `own`: a store that has what
/// the caller wrote. Throws Error(environment) where nothing can be written.
Rescued rescue(const sqlite::Database* lost, sqlite::Database& own, const std::string& path);

}  // namespace deplo::measure
