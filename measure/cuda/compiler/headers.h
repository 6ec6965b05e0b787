// Headers that users' CUDA C++ includes and that NVRTC has none of: those of the host's C library, of which device code
// needs little, and those of CUDA, which the toolkit and NVIDIA's wheels have.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

struct Header {
  const char* name;
  const char* text;
};

/// What NVRTC needs for the source's #include lines. Empty if it has none.
struct Headers {
  std::vector<Header> texts;         // found before those on disk
  std::vector<std::string> options;  // the folders of CUDA's headers, as --include-path=FOLDER

  /// The texts and options: machine code depends on them.
  std::string text() const;
};
Headers headers_of(std::string_view source);

/// How to get the header that NVRTC's log says it cannot open. nullopt: the log does not say so.
std::optional<std::string> advice_on_header(std::string_view log);

}  // namespace deplo::measure::cuda
