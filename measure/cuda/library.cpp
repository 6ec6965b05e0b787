#include "measure/cuda/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "core/error.h"
#include "core/text/split.h"
#include "core/text/text.h"

namespace deplo::measure::cuda {
namespace {

namespace fs = std::filesystem;

// Returns the entries of `folder` that begin with `beginning`, sorted by name.
std::vector<fs::path> entries_in(const fs::path& folder, std::string_view beginning) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with(beginning)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

// Returns /usr/local/cuda, then /usr/local/cuda-13.0, /usr/local/cuda-12.8, … with the newest first, then /opt/cuda.
std::vector<fs::path> toolkits() {
  std::vector<fs::path> found = entries_in("/usr/local", "cuda-");
  found.emplace_back("/usr/local/cuda");
  std::ranges::reverse(found);
  found.emplace_back("/opt/cuda");
  return found;
}

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

// Returns the folders of PATH, where the shell looks for programs.
std::vector<fs::path> path_folders() {
  const char* const path = std::getenv("PATH");
  std::vector<fs::path> folders;
  for (const std::string_view folder : split_at(path == nullptr ? "" : path, ':'))
    if (folder.starts_with('/')) folders.emplace_back(folder);
  return folders;
}

// Returns the folders that `pip install nvidia-…` creates, such as PREFIX/lib/python3.11/site-packages/nvidia/cu13.
// PREFIX is the parent of each `bin` folder on the shell's path (of a virtual environment or of the system), or
// ~/.local, where `pip install --user` puts packages.
std::vector<fs::path> wheels() {
  std::vector<fs::path> prefixes;
  for (const fs::path& bin : path_folders()) prefixes.push_back(bin.parent_path());
  if (const char* const home = std::getenv("HOME"); home != nullptr) prefixes.push_back(fs::path(home) / ".local");
  std::vector<fs::path> found;
  for (const fs::path& prefix : prefixes)
    for (const char* const lib : {"lib", "lib64"})  // Fedora's Python has both
      for (const fs::path& python : entries_in(prefix / lib, "python3"))
        for (const char* const packages : {"site-packages", "dist-packages"})
          for (fs::path& wheel : entries_in(python / packages / "nvidia", "")) found.push_back(std::move(wheel));
  return found;
}

}  // namespace

std::vector<fs::path> library_folders() {
  const fs::path program = program_folder();
  std::vector<fs::path> folders{program, program / "lib", ""};
  for (const fs::path& toolkit : toolkits()) folders.push_back(toolkit / "lib64");
  for (const fs::path& wheel : wheels()) folders.push_back(wheel / "lib");
  return folders;
}

std::vector<fs::path> header_folders() {
  std::vector<fs::path> roots = toolkits(), folders;
  std::ranges::copy(wheels(), std::back_inserter(roots));
  for (const fs::path& root : roots)
    // since CUDA 13 the C++ library has a folder of its own
    for (const char* const folder : {"include", "include/cccl"})
      if (std::error_code error; fs::is_directory(root / folder, error)) folders.push_back(root / folder);
  return folders;
}

std::optional<fs::path> find_program(const std::string& name) {
  std::vector<fs::path> folders{program_folder()};
  std::ranges::copy(path_folders(), std::back_inserter(folders));
  for (const fs::path& toolkit : toolkits()) folders.push_back(toolkit / "bin");
  for (const fs::path& wheel : wheels()) folders.push_back(wheel / "bin");
  for (const fs::path& folder : folders)
    if (std::error_code error; fs::is_regular_file(folder / name, error) && access((folder / name).c_str(), X_OK) == 0)
      return folder / name;
  return std::nullopt;
}

Library::Library(const LibraryName& name, const fs::path& only) : title_(name.title) {
  const auto open = [&](const fs::path& file) {
    // Otherwise the loader would look for the parts in its own folders only, where a wheel's libraries are not.
    if (std::error_code error; !name.parts.empty() && fs::exists(file, error))
      for (const fs::path& part : entries_in(file.parent_path(), name.parts))
        dlopen(part.c_str(), RTLD_NOW | RTLD_LOCAL);
    file_ = file.string();
    handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
    return handle_ != nullptr;
  };
  if (!only.empty()) {
    if (open(only)) return;
    throw Error(fmt::format("no {}: expected a library in {}; {}", title_, file_, name.advice), Exit::environment);
  }
  for (const fs::path& folder : library_folders())
    for (const std::string& file : name.files)
      if (open(folder / file)) return;
  throw Error(fmt::format("no {}: expected {} next to the program, on the loader's path, in /usr/local/cuda*/lib64 or "
                          "in Python's packages, found none; {}",
                          name.title, join(name.files, " or "), name.advice),
              Exit::environment);
}

Library::Symbol Library::find(const char* name) const {
  const Symbol symbol = find_optional(name);
  if (symbol.address == nullptr)
    throw Error(
        fmt::format("{}: expected the function {} in {}, found none; install a newer version", title_, name, file_),
        Exit::environment);
  return symbol;
}

Library::Symbol Library::find_optional(const char* name) const { return {dlsym(handle_, name)}; }

}  // namespace deplo::measure::cuda
