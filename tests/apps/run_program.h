// Runs a program as a user does, and tells what it said.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace deplo::testing {

struct Ran {
  int code = -1;  // exit code; 128 + signal when one killed it
  std::string out, err;
};

struct How {
  std::vector<std::string> environment = {};  // "NAME=value", added to ours
  int signal_after_ms = -1;                   // sends `signal` then; -1: never
  std::int64_t largest_file = -1;             // writes beyond that many bytes fail, as on a full disk; -1: no limit
  std::int64_t most_memory = -1;              // bytes of address space; -1: no limit. A sanitizer takes terabytes
  int signal = 2;                             // SIGINT
  bool no_output = false;                     // standard output is closed
  std::function<void()> meanwhile = {};       // is called while it runs, before a signal is sent
  unsigned user = 0;                          // of the system, by number; 0: who we are. Others need root
  std::string signal_at = {};                 // sends `signal` as soon as it has said this
  int terminal = 0;  // columns: its standard streams are a terminal that wide, and what it says there is `out`
};

/// `words[0]` is deplo or deplo-tune of this build.
Ran run_program(std::vector<std::string> words, const How& how = {});

/// Starts it without waiting for it, its output nowhere; its number.
pid_t start_program(std::vector<std::string> words, const std::vector<std::string>& environment = {});
/// The processes that work for a tuner (`deplo worker`).
std::vector<pid_t> workers_of(pid_t tuner);

/// What no command may leave below the folder: files that are not empty, no stores (.db), kept kernels (.bin) or
/// experiments (.yaml).
std::vector<std::string> left_behind(const std::filesystem::path& folder);

/// What stands on a terminal of that many columns after this was written to it, without empty lines at the end. Knows
/// `\r`, `\n`, and "erase to the end of the line".
std::vector<std::string> screen(const std::string& written, std::size_t width);

/// Writes a file into the folder; its path.
std::string write_file(const std::filesystem::path& folder, const std::string& name, const std::string& text);

}  // namespace deplo::testing
