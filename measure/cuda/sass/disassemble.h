// Runs nvdisasm, the disassembler of the CUDA toolkit. Needs no GPU and no driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace deplo::measure::cuda::sass {

/// Returns the path of nvdisasm. If there is none, throws a one-line Error(environment) that says which folders were
/// searched and how to get nvdisasm.
std::filesystem::path nvdisasm();

/// Returns the output of `nvdisasm --print-code` for a cubin. Throws Error(environment) if the program cannot be run,
/// or if it refuses the cubin because nvdisasm is older than the architecture.
std::string disassemble(std::string_view cubin, const std::filesystem::path& program = nvdisasm());

}  // namespace deplo::measure::cuda::sass
