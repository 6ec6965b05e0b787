// Writes files that the user names.
#pragma once
#include <string>
#include <string_view>

namespace deplo::apps {

/// Throws Error if the file is a database. A store's measurements cannot be restored, and a wrong name is easily given
/// to a flag. write_file() checks this itself; commands that take long check it before they begin.
void expect_no_store(const std::string& file);

/// Replaces the file's contents with these bytes. Writes a new file in the same folder and renames it, so that a full
/// disk or a kill does not damage the old file. Throws Error if the file is a database; Error(environment) with the
/// system's reason if it cannot be written.
void write_file(const std::string& file, const std::string& bytes);

/// Creates the folder and its parents, unless they exist. Throws Error(environment), prefixed by `place`.
void make_folder(const std::string& folder, std::string_view place);

}  // namespace deplo::apps
