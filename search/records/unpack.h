// The text inside a file that may be compressed.
#pragma once
#include <filesystem>
#include <string>

namespace deplo::search::records {

/// The bytes of the file: of a .gz what was compressed, of a .zip its one entry that ends in .json or .csv. Told by the
/// content, not by the name. At most 1 GiB. Throws Error where it cannot be read, is damaged or larger.
std::string read_unpacked(const std::filesystem::path& file);

}  // namespace deplo::search::records
