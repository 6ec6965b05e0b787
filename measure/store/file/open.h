// Opening a store file: what may be wrong with a path, and the migrations.
#pragma once
#include <chrono>
#include <memory>
#include <string>

#include "measure/sqlite/sqlite.h"

namespace deplo::measure {

// Each waits a moment for a process that is just making the file, and refuses one whose tables are none (a view of
// their name may be an endless query). Statements have a limit (longest_statement in measure/sqlite/sqlite.h).

/// A connection to a database of the current version in WAL mode. Nothing is written to a file that is refused.
/// `longest_wait`: for others' locks.
std::unique_ptr<sqlite::Database> open_database(const std::string& path,
                                                std::chrono::milliseconds longest_wait = sqlite::longest_lock);

/// A connection through which nothing can be written, to a store that exists and is of the current version. The user
/// may lack every right but to read the file.
std::unique_ptr<sqlite::Database> open_read_only(const std::string& path);
/// The same; a store of an older version is brought up to date first, where it may be written.
std::unique_ptr<sqlite::Database> open_to_read(const std::string& path);

/// An empty store in memory.
std::unique_ptr<sqlite::Database> open_in_memory();

}  // namespace deplo::measure
