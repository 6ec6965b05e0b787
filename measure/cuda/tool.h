// A program of the CUDA toolkit, run to its end. Needs no GPU and no driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

struct ToolRun {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // behind these the input's file
  std::string_view input;              // bytes
  std::string output_option;           // such as "-o", with the output's file; "": it writes to its standard output
};

/// What the program wrote. Its toolkit is the one that it lies in (CUDA_HOME): another's libraries may be older. Throws
/// Error(environment) in one line where the program cannot be run, says no, or no temporary file can be written.
std::string run_tool(const ToolRun&);

}  // namespace deplo::measure::cuda
