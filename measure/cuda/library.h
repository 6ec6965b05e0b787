// Shared libraries opened at run time, by small tables of functions, and programs of the toolkit: nothing of CUDA is
// needed to build or to start.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace deplo::measure::cuda {

/// A library of CUDA: its file names, newest first, and what a user does to get it.
struct LibraryName {
  std::string title;               // "NVRTC"
  std::vector<std::string> files;  // "libnvrtc.so.13", …
  std::string advice;              // "comes with the CUDA toolkit, …"
};

/// An open library; it stays open until the process ends, because NVIDIA's libraries do not close cleanly.
class Library {
 public:
  /// The first that opens: beside the program, where the loader looks, in the toolkit's usual folders or a wheel. Throws
  /// Error(environment) in one line: what was looked for, and how to get it.
  explicit Library(const LibraryName&);
  /// The very file. Throws Error(environment).
  Library(const LibraryName&, const std::filesystem::path& file);

  /// A function of the library; throws Error(environment) where it has none of that name: it is too old.
  template <class F>
  void find(const char* name, F& function) const {
    function = reinterpret_cast<F>(symbol(name));
    if (function == nullptr) lacks(name);
  }
  /// The same; null where there is none.
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

/// Folders where a toolkit's libraries may be beside the loader's own ("" stands for these), in the order they are
/// tried. The last are those of NVIDIA's wheels for a Python on the shell's path.
std::vector<std::filesystem::path> library_folders();

/// A program of the toolkit: beside this one, where the shell looks, in the toolkit's usual folders, or in such a
/// wheel. nullopt: there is none.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace deplo::measure::cuda
