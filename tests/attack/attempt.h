// One damaged file through all that reads it, in this process, and what became of that.
#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "attack/kinds.h"

namespace deplo::attack {

enum class End : std::uint8_t {
  accepted,  // by one of its readers at least
  refused,   // by all, each in one clear line
  lost,      // the file was written to
  wrong,     // accepted, and what deplo makes of it is not what it says; sound and refused
  unclear,   // refused without a word, or with many; control characters that reach the terminal
  hung,      // more CPU than any such file is worth
  memory,    // the same of memory
  crashed,   // a signal, an exception that nobody catches, a sanitizer's finding
};
inline constexpr std::array<std::string_view, 8> end_names = {"accepted", "refused", "lost",   "wrong",
                                                              "unclear",  "hung",    "memory", "crashed"};

/// Of one reader. The process is killed by SIGPROF beyond that.
inline constexpr int most_seconds =
#ifdef __SANITIZE_ADDRESS__
    200;
#else
    20;
#endif
/// Resident at the worst moment, of a file of a few MB at most.
inline constexpr double most_bytes = 1e9;

struct Verdict {
  End end = End::refused;
  std::string text;               // what was found, and by which reader; one line
  double seconds = 0, bytes = 0;  // the slowest reader, the largest
};

/// Standard output and error as files that are read after each command.
class Streams {
 public:
  /// CHECKs that the system has memory files.
  Streams();
  /// From now on what this process prints goes there.
  void take_over() const;
  void clear() const;
  std::string out() const { return read(out_); }
  std::string err() const { return read(err_); }

 private:
  static std::string read(int file);
  int out_, err_;
};

/// `folder` is empty, and is again afterwards. `every`: all readers, not only those that chance chooses. `reader` is
/// told what runs, for the time when nobody can ask any more.
Verdict attempt(const Kind&, const Seed&, const std::string& bytes, Rng&, const std::filesystem::path& folder,
                const Streams&, bool every, const std::function<void(const std::string&)>& reader);

}  // namespace deplo::attack
