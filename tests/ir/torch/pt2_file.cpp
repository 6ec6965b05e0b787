#include "ir/torch/pt2_file.h"

#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "ir/torch/pt2/pt2.h"

namespace deplo::tests {
namespace fs = std::filesystem;

fs::path fixture(const std::string& name) { return fs::path(DEPLO_SOURCE_DIR) / "tests/data/pt2" / name; }

std::vector<fs::path> fixtures() {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(fixture("")))
    if (file.path().extension() == ".pt2") files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

Entries unpack(const fs::path& file) {
  zip_t* zip = zip_open(file.c_str(), ZIP_RDONLY, nullptr);
  CHECK(zip != nullptr);
  Entries entries;
  for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); ++i) {
    zip_stat_t stat;
    CHECK(zip_stat_index(zip, static_cast<zip_uint64_t>(i), 0, &stat) == 0);
    std::string bytes(stat.size, '\0');
    zip_file_t* data = zip_fopen_index(zip, static_cast<zip_uint64_t>(i), 0);
    CHECK(zip_fread(data, bytes.data(), stat.size) == static_cast<zip_int64_t>(stat.size));
    zip_fclose(data);
    entries.emplace_back(stat.name, std::move(bytes));
  }
  zip_discard(zip);
  return entries;
}

void pack(const fs::path& file, const Entries& entries, bool compress) {
  zip_t* zip = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  CHECK(zip != nullptr);
  for (const auto& [name, bytes] : entries) {
    zip_source_t* source = zip_source_buffer(zip, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(zip, name.c_str(), source, 0);
    CHECK(index >= 0);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  CHECK(zip_close(zip) == 0);
}

void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

std::string& entry(Entries& entries, const std::string& suffix) {
  const auto found = std::ranges::find_if(entries, [&](const auto& e) { return e.first.ends_with(suffix); });
  CHECK(found != entries.end());
  return found->second;
}

std::string error_of(const fs::path& file) {
  try {
    ir::torch::read_pt2(file);
  } catch (const Error& e) {
    const std::string message = e.what(), prefix = file.string() + ": ";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : "no path in: " + message;
  }
  return "";
}

TemporaryFile::TemporaryFile() {
  static std::atomic<int> number = 0;
  path = fs::temp_directory_path() / ("deplo_" + std::to_string(getpid()) + "_" + std::to_string(number++) + ".pt2");
}
TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  fs::remove(path, ignored);
}

}  // namespace deplo::tests
