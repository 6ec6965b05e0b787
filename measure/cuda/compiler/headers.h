// Headers that users' CUDA C++ includes and that NVRTC does not have: headers of the host's C library (device code
// needs little of them), and CUDA's headers, which come with the toolkit and NVIDIA's wheels.
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

/// What NVRTC needs for the #include lines of a source. Empty if the source has no #include lines.
struct Headers {
  std::vector<Header> texts;         // found before the headers on disk
  std::vector<std::string> options;  // folders of CUDA's headers, as --include-path=FOLDER

  /// The texts and options as one string, for cache keys: the machine code depends on them.
  std::string text() const;
};
Headers headers_of(std::string_view source);

/// Returns true if the source may include headers of the user: in quotes, by a macro, or from a folder of the user's
/// options.
bool may_include_own(std::string_view source, std::string_view options);

/// Returns how to get the header that NVRTC could not open according to its log; nullopt if the log does not say so.
std::optional<std::string> advice_on_header(std::string_view log);

}  // namespace deplo::measure::cuda
