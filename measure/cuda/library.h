// Opens CUDA's shared libraries at run time, and finds programs of the toolkit. So building and starting deplo does not
// need CUDA.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deplo::measure::cuda {

/// A library of CUDA: its file names, newest first, and how a user gets it.
struct LibraryName {
  std::string title;               // "NVRTC"
  std::vector<std::string> files;  // "libnvrtc.so.13", …
  std::string advice;              // "comes with the CUDA toolkit, …"
};

/// An open library. It stays open until the process ends, because NVIDIA's libraries do not close cleanly.
class Library {
 public:
  /// Opens the first that it finds: next to the program, on the loader's path, in the toolkit's usual folders or in a
  /// wheel. Throws Error(environment) in one line: the names it looked for, and how to get the library.
  explicit Library(const LibraryName&);
  /// Opens exactly this file. Throws Error(environment).
  Library(const LibraryName&, const std::filesystem::path& file);

  /// Finds a function of the library. Throws Error(environment) if the library is too old to have it.
  template <class F>
  void find(const char* name, F& function) const {
    function = reinterpret_cast<F>(symbol(name));
    if (function == nullptr) lacks(name);
  }
  /// The same, but `function` becomes null if there is none.
  template <class F>
  void find_optional(const char* name, F& function) const {
    function = reinterpret_cast<F>(symbol(name));
  }
  const std::string& title() const { return title_; }

 private:
  void* symbol(const char* name) const;
  [[noreturn]] void lacks(const char* name) const;
  void* handle_ = nullptr;
  std::string title_, file_;
};

/// The folders that may have a toolkit's libraries, in the order in which they are tried. "" stands for the loader's
/// own folders. The last ones are those of NVIDIA's wheels for a Python on the shell's path.
std::vector<std::filesystem::path> library_folders();

/// The folders of CUDA's headers: of toolkits, the newest first, then of such wheels. Only those that exist.
std::vector<std::filesystem::path> header_folders();

/// A program of the toolkit: next to this one, on the shell's path, in the toolkit's usual folders, or in such a wheel.
/// nullopt: there is none.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace deplo::measure::cuda
