// Helpers that make damaged copies of .pt2 files.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace deplo::tests {

using Entries = std::vector<std::pair<std::string, std::string>>;  // name, bytes

std::filesystem::path fixture(const std::string& name);  // "mlp_2.5.1.pt2"
std::vector<std::filesystem::path> fixtures();           // every .pt2 file, sorted
Entries unpack(const std::filesystem::path& file);
/// Writes the entries to `file` as a zip archive, and replaces the file if it exists.
void pack(const std::filesystem::path& file, const Entries& entries, bool compress = false);
void write(const std::filesystem::path& file, const std::string& bytes);
/// Returns the entry whose name ends with `suffix`. CHECKs that there is one.
std::string& entry(Entries& entries, const std::string& suffix);
/// Returns the message of the Error that reading the file throws, without the path of the file; "" if there is none.
std::string error_of(const std::filesystem::path& file);

/// A file in the temporary folder, which the destructor deletes.
struct TemporaryFile {
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::filesystem::path path;
};

}  // namespace deplo::tests
