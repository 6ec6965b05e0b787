// Runs a program of the CUDA toolkit to its end. Needs no GPU and no driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace deplo::measure::cuda {

struct ToolRun {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // the path of the input file follows
  std::string_view input;              // bytes
  // option that names the output file, such as "-o"; "": the output is what the program writes to standard output
  std::string output_option;
};

/// Runs the program and returns its output. CUDA_HOME is set to the toolkit that contains the program, because the
/// libraries of another toolkit may be older. Throws a one-line Error(environment) if the program cannot be run or
/// fails, or if no temporary file can be written.
std::string run_tool(const ToolRun&);

}  // namespace deplo::measure::cuda
