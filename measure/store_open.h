// Opening a store file: what may be wrong with a path, and the migrations.
#pragma once
#include <memory>
#include <string>

#include "measure/sqlite.h"

namespace deplo::measure {

/// A connection to a database of the current version in WAL mode. Nothing is written to a file that is refused.
std::unique_ptr<Database> open_database(const std::string& path);

/// A connection through which nothing can be written, to a store that exists and is of the current version.
std::unique_ptr<Database> open_read_only(const std::string& path);

}  // namespace deplo::measure
