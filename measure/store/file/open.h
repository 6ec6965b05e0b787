// Opens store files: checks the path and the file, and migrates older versions.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

// Each function refuses a file in which a view (which may be an endless query) or a virtual table has the name of one
// of the store's tables. Statements have a time limit (longest_statement in measure/sqlite/sqlite.h).

/// Returns a connection in WAL mode. Creates the file or migrates it to the current version. Writes nothing to a file
/// that it refuses. `longest_wait`: how long to wait for locks of other processes.
std::unique_ptr<sqlite::Database> open_database(const std::string& path,
                                                std::chrono::milliseconds longest_wait = sqlite::longest_lock);

/// Returns a read-only connection to an existing store of the current version, or to a pack (measure/store/pack.h). The
/// user needs only the right to read the file.
/// Waits up to a second if another process is just creating the store.
std::unique_ptr<sqlite::Database> open_read_only(const std::string& path);
/// Like open_read_only(), but reads a store of an older version, too: from a copy in memory that has the current
/// version. The file is not changed.
std::unique_ptr<sqlite::Database> open_to_read(const std::string& path);

/// Returns an empty store in memory.
std::unique_ptr<sqlite::Database> open_in_memory();

}  // namespace deplo::measure
