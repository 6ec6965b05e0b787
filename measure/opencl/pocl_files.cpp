#include "measure/opencl/pocl_files.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "core/file.h"
#include "core/hash.h"
#include "measure/disk_cache.h"
#include "measure/elf.h"
#include "measure/work_folder.h"

namespace deplo::measure::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_file = 1 << 20;  // in bytes; longer than each of PoCL's files for a program

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Packs all files of a folder into one string: each file follows a line with its path relative to `root` and its size.
std::string pack(const fs::path& root, const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder))
    if (entry.is_regular_file()) files[fs::relative(entry.path(), root).string()] = bytes_of(entry.path());
  std::string text;
  for (const auto& [path, bytes] : files) text += fmt::format("{} {}\n{}", path, bytes.size(), bytes);
  return text;
}

/// Returns the size of the instructions in a shared library; 0 if it has none.
std::int64_t text_bytes(const std::string& library) {
  const auto sections = elf_sections(library);
  if (!sections) return 0;
  const ElfSection* const text = find_section(*sections, ".text");
  return text == nullptr ? 0 : static_cast<std::int64_t>(text->size);
}

/// Unpacks what pack() has made below `root`. Returns the folder of the program, which is two levels deep, or nullopt
/// if the text has another form.
std::optional<std::string> unpack(std::string_view text, const fs::path& root) {
  std::string folder;
  while (!text.empty()) {
    const std::size_t line = text.find('\n'), space = text.substr(0, line).rfind(' ');
    if (line == std::string_view::npos || space == std::string_view::npos) return std::nullopt;
    const fs::path path(text.substr(0, space));
    const std::size_t size = std::strtoull(std::string(text.substr(space + 1, line)).c_str(), nullptr, 10);
    text.remove_prefix(line + 1);
    const auto leaves = [](const fs::path& name) { return name == ".."; };
    if (path.is_absolute() || std::ranges::any_of(path, leaves) || std::distance(path.begin(), path.end()) < 3)
      return std::nullopt;
    if (size > text.size()) return std::nullopt;
    folder = (*path.begin() / *std::next(path.begin())).string();
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path, std::ios::binary) << text.substr(0, size);
    text.remove_prefix(size);
  }
  return folder.empty() ? std::nullopt : std::optional(folder);
}

/// The cache folder that PoCL uses in this process.
class OwnFolder {
 public:
  static OwnFolder& get() {
    static OwnFolder own;
    return own;
  }

  void begin(const std::string& key) {
    if (programs_.contains(key)) return;  // its files are in use already
    const auto text = DiskCache::of_user().get(key);
    if (!text) return;
    if (const auto folder = unpack(*text, root())) programs_[key] = {*folder, digest(*text)};
  }

  void built(const std::string& key) {
    std::vector<std::string> fresh;
    for (const auto& first : fs::directory_iterator(root()))
      if (first.is_directory())
        for (const auto& second : fs::directory_iterator(first))
          if (std::string name = (first.path().filename() / second.path().filename()).string();
              second.is_directory() && seen_.insert(name).second)
            fresh.push_back(std::move(name));
    if (fresh.size() == 1) programs_[key].folder = fresh.front();
  }

  void keep(const std::string& key) {
    const auto found = programs_.find(key);
    if (found == programs_.end()) return;
    const std::string text = pack(root(), found->second.folder);
    if (const std::string now = digest(text); now != found->second.kept && DiskCache::of_user().put(key, text))
      found->second.kept = now;
  }

  /// Returns the size of the instructions of a kernel. PoCL stores a library for each block size as
  /// PROGRAM/KERNEL/SIZE/KERNEL.so. A candidate has only one block size.
  std::int64_t code_bytes(const std::string& key, const std::string& kernel) const {
    const auto found = programs_.find(key);
    if (found == programs_.end() || found->second.folder.empty()) return 0;
    const fs::path folder = root() / found->second.folder / kernel;
    std::int64_t bytes = 0;
    if (fs::is_directory(folder))
      for (const auto& entry : fs::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".so") bytes = std::max(bytes, text_bytes(bytes_of(entry.path())));
    return bytes;
  }

  /// Writes a file that is longer than PoCL's files for a program, and removes it.
  std::string why_unwritable() const {
    const std::string bytes(longest_file, 'x');
    const fs::path file = root() / "probe";
    errno = 0;
    std::ofstream stream(file, std::ios::binary);
    const bool written = stream.write(bytes.data(), std::ssize(bytes)) && stream.flush();
    const int code = errno;
    stream.close();
    std::error_code ignored;
    fs::remove(file, ignored);
    return written ? "" : fmt::format("{}: {}", root().string(), code ? std::strerror(code) : "writing failed");
  }

  bool exists() const { return !work_.path().empty(); }

 private:
  OwnFolder() {
    if (exists()) setenv("POCL_CACHE_DIR", root().c_str(), /*overwrite=*/1);
  }
  const fs::path& root() const { return work_.path(); }

  struct Program {
    std::string folder, kept;  // the folder relative to root(), and the digest of what the cache has of it
  };
  WorkFolder work_;
  std::map<std::string, Program> programs_;  // by key
  std::set<std::string> seen_;               // folders of programs that are known already
};

std::mutex own_folder_mutex;  // because several threads build

/// Does the work and ignores failures: what cannot be stored or found is compiled again.
template <class F>
void try_to(F work) {
  try {
    if (is_library() || !OwnFolder::get().exists()) return;
    const std::lock_guard lock(own_folder_mutex);
    work(OwnFolder::get());
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace

void use_own_pocl_folder() {
  if (!is_library()) OwnFolder::get();
}

std::string why_unwritable() {
  std::string why;
  try_to([&](OwnFolder& own) { why = own.why_unwritable(); });
  return why;
}

std::string why_too_short() {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= longest_file) return "";
  return fmt::format("expected a limit of at least {} KiB for a file, found {} KiB; see `ulimit -f`",
                     longest_file >> 10U, limit.rlim_cur >> 10U);
}

PoclFiles::PoclFiles(std::string key) : key_(std::move(key)) {
  try_to([&](OwnFolder& own) { own.begin(key_); });
}

void PoclFiles::built(bool well) {
  try_to([&](OwnFolder& own) { own.built(key_); });
  if (!well) key_.clear();
}

std::optional<std::int64_t> PoclFiles::code_bytes(const std::string& kernel) const {
  std::int64_t bytes = 0;
  try_to([&](OwnFolder& own) { bytes = own.code_bytes(key_, kernel); });
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

PoclFiles::~PoclFiles() {
  if (!key_.empty()) try_to([&](OwnFolder& own) { own.keep(key_); });
}

}  // namespace deplo::measure::opencl
