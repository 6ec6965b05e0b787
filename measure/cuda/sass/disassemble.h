// nvdisasm, the disassembler of the CUDA toolkit, run as a program. Needs no GPU and no driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace deplo::measure::cuda::sass {

/// Throws Error(environment) in one line where there is none: where it was looked for, and how to get it.
std::filesystem::path nvdisasm();

/// What `nvdisasm --print-code` prints of a cubin. Throws Error(environment) where the program cannot be run or refuses
/// the cubin: it is older than the architecture.
std::string disassemble(std::string_view cubin, const std::filesystem::path& program = nvdisasm());

}  // namespace deplo::measure::cuda::sass
