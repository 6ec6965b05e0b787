// Runs nvdisasm, the disassembler of the CUDA toolkit. Needs no GPU and no driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace deplo::measure::cuda::sass {

/// The path of nvdisasm. If there is none, throws Error(environment) in one line: the folders searched, and how to get
/// it.
std::filesystem::path nvdisasm();

/// The output of `nvdisasm --print-code` for a cubin. Throws Error(environment) if the program cannot be run, or
/// refuses the cubin because it is older than the architecture.
std::string disassemble(std::string_view cubin, const std::filesystem::path& program = nvdisasm());

}  // namespace deplo::measure::cuda::sass
