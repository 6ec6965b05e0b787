// Runs a program as a user does, and tells what it said.
#pragma once
#include <cstdint>
#include <filesystem>
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
};

/// `words[0]` is deplo or deplo-tune of this build.
Ran run_program(std::vector<std::string> words, const How& how = {});

/// Writes a file into the folder; its path.
std::string write_file(const std::filesystem::path& folder, const std::string& name, const std::string& text);

}  // namespace deplo::testing
