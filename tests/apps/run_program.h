// Runs a program as a user does, and returns its exit code and what it printed.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace deplo::testing {

struct Ran {
  int code = -1;  // exit code, or 128 + signal if a signal ended it
  std::string out, err;
};

struct How {
  std::vector<std::string> environment = {};  // "NAME=value", added to our environment
  int signal_after_ms = -1;                   // milliseconds after which `signal` is sent; -1: never
  std::int64_t largest_file = -1;             // writes beyond this many bytes fail, as on a full disk; -1: no limit
  std::int64_t max_memory = -1;          // limit of the address space in bytes; -1: none. Sanitizers need terabytes
  int signal = 2;                        // SIGINT by default
  bool no_output = false;                // closes standard output
  std::function<void()> meanwhile = {};  // called while the program runs, before a signal is sent
  unsigned user = 0;                     // number of the user to run as, which only root may set; 0: our own user
  std::string signal_at = {};            // sends `signal` as soon as the program has printed this
  int max_processes = -1;                // limit of the processes and threads of `user`; -1: none. Root has no limit
  int terminal = 0;  // columns of a terminal for the standard streams, which `out` then contains; 0: none
};

/// Runs `words[0]`, which is deplo or deplo-tune of this build, with the other words as arguments.
Ran run_program(std::vector<std::string> words, const How& how = {});

/// Starts a program without waiting for it, and discards its output. Returns its process id.
pid_t start_program(std::vector<std::string> words, const std::vector<std::string>& environment = {});
/// Returns the process ids of a tuner's workers (`deplo worker`).
std::vector<pid_t> workers_of(pid_t tuner);

/// Returns the files below the folder that no command may leave there: files that are not empty, and are not stores
/// (.db), cached kernels (.bin) or experiments (.yaml).
std::vector<std::string> left_behind(const std::filesystem::path& folder);

/// Returns the lines that a terminal of `width` columns shows after `written` was written to it, without empty lines at
/// the end. Understands `\r`, `\n`, and "erase to the end of the line".
std::vector<std::string> screen(const std::string& written, std::size_t width);

/// Writes a file into the folder, and returns its path.
std::string write_file(const std::filesystem::path& folder, const std::string& name, const std::string& text);

}  // namespace deplo::testing
