// Files that a user asks for by name.
#pragma once
#include <string>
#include <string_view>

namespace deplo::apps {

/// Throws Error where the file is a database: a store holds measurements that nothing brings back, and a flag is soon
/// given the wrong name. write_file() asks by itself; what takes long asks before it begins.
void expect_no_store(const std::string& file);

/// Writes these bytes to the file, in place of what it held: beside it and then renamed, so that a full disk or a kill
/// leaves the old file as it was. Throws Error: it is a database; (environment) it cannot be written, with the system's
/// reason.
void write_file(const std::string& file, const std::string& bytes);

/// The folder, and those above it, unless it is there. Throws Error (environment), prefixed by `place`.
void make_folder(const std::string& folder, std::string_view place);

}  // namespace deplo::apps
