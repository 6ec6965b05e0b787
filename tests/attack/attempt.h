// Passes one damaged file to all of its readers, in this process, and says how that ended.
#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "attack/kinds.h"

namespace deplo::attack {

enum class End : std::uint8_t {
  accepted,  // at least one reader accepted the file
  refused,   // all readers refused the file, each with a short, clear message
  lost,      // a reader wrote to the file
  wrong,     // a reader accepted the file but misread it, or a sound file was refused
  unclear,   // refused with no message or a long one, or control characters reached the terminal
  hung,      // a reader used more CPU time than any such file is worth
  memory,    // a reader used more memory than any such file is worth
  crashed,   // a signal, an uncaught exception, or a sanitizer's finding
};
inline constexpr std::array<std::string_view, 8> end_names = {"accepted", "refused", "lost",   "wrong",
                                                              "unclear",  "hung",    "memory", "crashed"};

/// Limit on the CPU time of one reader, in seconds. SIGPROF kills the process after that.
inline constexpr int max_seconds =
#ifdef __SANITIZE_ADDRESS__
    200;
#else
    20;
#endif
/// Limit on the resident memory of one reader, in bytes. The files have a few MB at most.
inline constexpr double max_bytes = 1e9;

struct Verdict {
  End end = End::refused;
  std::string text;               // what was found, and by which reader; one line
  double seconds = 0, bytes = 0;  // of the slowest reader; peak memory of the reader that used most
};

/// Standard output and error as files that are read after each command.
class Streams {
 public:
  /// CHECKs that the system has memory files.
  Streams();
  /// Redirects the standard output and error of this process to the files.
  void take_over() const;
  void clear() const;
  std::string out() const { return read(out_); }
  std::string err() const { return read(err_); }

 private:
  static std::string read(int file);
  int out_, err_;
};

/// Runs the readers of `seed` on `bytes`. Returns the first fault found; without a fault, whether a reader accepted the
/// bytes. `folder` must be empty, and is empty again afterwards. If `every` is false, chance chooses the commands that
/// run (Command::one_in). `reader` is called with the name of each reader before that reader runs, so that the name is
/// known even if the process dies.
Verdict attempt(const Kind&, const Seed&, const std::string& bytes, Rng&, const std::filesystem::path& folder,
                const Streams&, bool every, const std::function<void(const std::string&)>& reader);

}  // namespace deplo::attack
