// Reads a file that may be compressed.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace deplo::search::records {

/// Does the name have an ending of recorded files? Other files in folders and archives are not read.
bool has_record_ending(std::string_view name);
/// The endings of recorded files, for messages: ".json, .jsonl, …, .wisdom".
std::string record_endings();

/// The bytes of the file; of a .gz file the uncompressed bytes; of a .zip file its only entry with a record's ending.
/// The format is detected from the content, not from the name. At most 1 GiB. Throws Error if the file cannot be read,
/// is damaged or is larger; NotRecorded if an archive does not have one such entry.
std::string read_unpacked(const std::filesystem::path& file);

}  // namespace deplo::search::records
