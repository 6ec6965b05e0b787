// Runs a program of the CUDA toolkit to its end. Needs no GPU and no driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

struct ToolRun {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // followed by the input's file
  std::string_view input;              // bytes
  std::string output_option;  // the option for the output's file, such as "-o"; "": it writes to standard output
};

/// Returns the program's output. CUDA_HOME is set to the toolkit that contains the program, because another toolkit's
/// libraries may be older. Throws Error(environment) in one line if the program cannot be run, fails, or no temporary
/// file can be written.
std::string run_tool(const ToolRun&);

}  // namespace deplo::measure::cuda
