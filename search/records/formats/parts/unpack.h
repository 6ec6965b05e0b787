// Reads a file that may be compressed.
#pragma once
#include <filesystem>
#include <string>

namespace deplo::search::records {

/// The bytes of the file; of a .gz file the uncompressed bytes; of a .zip file its only entry that ends in .json,
/// .jsonl, .log, .csv or .xml. The format is detected from the content, not from the name. At most 1 GiB. Throws Error
/// if the file cannot be read, is damaged or is larger; NotRecorded if an archive does not have one such entry.
std::string read_unpacked(const std::filesystem::path& file);

}  // namespace deplo::search::records
