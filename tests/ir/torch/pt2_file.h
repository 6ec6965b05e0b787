// Damaged copies of .pt2 files.
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
/// Replaces `file`.
void pack(const std::filesystem::path& file, const Entries& entries, bool compress = false);
void write(const std::filesystem::path& file, const std::string& bytes);
/// The entry whose name ends so. CHECKs that there is one.
std::string& entry(Entries& entries, const std::string& suffix);
/// The message of the Error that reading the file gives, without its path; "" where it gives none.
std::string error_of(const std::filesystem::path& file);

/// A file in the temporary folder that goes when this does.
struct TemporaryFile {
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::filesystem::path path;
};

}  // namespace deplo::tests
