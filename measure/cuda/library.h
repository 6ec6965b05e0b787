// Opens CUDA's shared libraries at run time, and finds programs of the toolkit. So building and starting deplo does not
// need CUDA.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace deplo::measure::cuda {

/// A CUDA library: its file names, newest first, and how to get it.
struct LibraryName {
  std::string title;               // for example "NVRTC"
  std::vector<std::string> files;  // for example "libnvrtc.so.13", …
  std::string advice;              // how to get it: "it comes with the CUDA toolkit, …"
  std::string parts = {};          // libraries beside it that it opens later, by their names alone, begin with this
};

/// An open library. It stays open until the process ends, because NVIDIA's libraries do not close cleanly.
class Library {
 public:
  /// Opens the first file that it finds: next to the program, on the loader's path, in the toolkit's usual folders or
  /// in a Python wheel. Throws a one-line Error(environment) that says which names it looked for, and how to get the
  /// library. `only`: opens exactly this file; "": any.
  explicit Library(const LibraryName&, const std::filesystem::path& only = {});

  /// The address of a function. It initializes a pointer to functions of any type.
  struct Symbol {
    template <class F>
    operator F*() const {  // NOLINT(google-explicit-constructor): the pointer declares the type
      return reinterpret_cast<F*>(address);
    }
    void* address;
  };
  /// Finds a function of the library. Throws Error(environment) if the library is too old to have it.
  Symbol find(const char* name) const;
  /// The same, but returns null if the library does not have it.
  Symbol find_optional(const char* name) const;

 private:
  void* handle_ = nullptr;
  std::string title_, file_;
};

/// Returns the folders that may have a toolkit's libraries, in the order in which they are tried. "" stands for the
/// loader's own folders. The last folders are those of NVIDIA's wheels for each Python on the shell's path.
std::vector<std::filesystem::path> library_folders();

/// Returns the existing folders with CUDA's headers: those of toolkits, the newest first, then those of NVIDIA's
/// wheels.
std::vector<std::filesystem::path> header_folders();

/// Finds a program of the toolkit: next to this program, on the shell's path, in the toolkit's usual folders, or in one
/// of NVIDIA's wheels. Returns nullopt if there is none.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace deplo::measure::cuda
