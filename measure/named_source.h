// The source of a user's kernel with the name of its file, which compilers use in their messages.
#pragma once
#include <filesystem>
#include <string>

namespace deplo::measure {

/// Returns the text below a line that gives it the name of the file, without folders. The first line of the text keeps
/// the number 1.
std::string with_file_name(const std::string& text, const std::filesystem::path& file);

}  // namespace deplo::measure
