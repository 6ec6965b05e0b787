#include "measure/cuda/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text/text.h"

namespace deplo::measure::cuda {
namespace {

namespace fs = std::filesystem;

// /usr/local/cuda-13.0/lib64, …; the newest first.
std::vector<fs::path> toolkits() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error))
    if (entry.path().filename().string().starts_with("cuda-")) found.push_back(entry.path() / "lib64");
  std::sort(found.rbegin(), found.rend());
  return found;
}

}  // namespace

std::vector<fs::path> library_folders() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<fs::path> folders{program, program / "lib", "", "/usr/local/cuda/lib64"};
  for (fs::path& folder : toolkits()) folders.push_back(std::move(folder));
  folders.emplace_back("/opt/cuda/lib64");
  return folders;
}

Library::Library(const LibraryName& name) : title_(name.title) {
  for (const fs::path& folder : library_folders())
    for (const std::string& file : name.files) {
      file_ = (folder / file).string();
      handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
  throw Error(fmt::format("no {}: expected {} beside the program, on the loader's path or in /usr/local/cuda*/lib64, "
                          "found none; {}",
                          name.title, join(name.files, " or "), name.advice),
              Exit::environment);
}

Library::Library(const LibraryName& name, const fs::path& file) : title_(name.title), file_(file.string()) {
  handle_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr)
    throw Error(fmt::format("no {}: expected a library in {}; {}", title_, file_, name.advice), Exit::environment);
}

void* Library::symbol(const char* name) const { return dlsym(handle_, name); }

void Library::lacks(const char* name) const {
  throw Error(
      fmt::format("{}: expected the function {} in {}, found none; install a newer version", title_, name, file_),
      Exit::environment);
}

}  // namespace deplo::measure::cuda
