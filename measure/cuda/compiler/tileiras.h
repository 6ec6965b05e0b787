// Runs tileiras, NVIDIA's compiler of tile programs, whose kernels are a baseline for deplo's. Needs no GPU and no
// driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace deplo::measure::cuda {

/// The path of tileiras. If there is none, throws Error(environment) in one line: the folders searched, and how to get
/// it.
std::filesystem::path tileiras();

/// Compiles all entries of a tile program to a cubin, at the highest level of optimisation. `bytecode`: of a version
/// that is not newer than tileiras' (13.3 needs tileiras 13.3). `architecture`: "sm_90". Throws Error(environment) if
/// tileiras cannot be run, or refuses the bytecode or the architecture.
std::string compile_tile_bytecode(std::string_view bytecode, std::string_view architecture,
                                  const std::filesystem::path& program = tileiras());

/// "13.5.37". Throws Error(environment) if tileiras cannot be run.
std::string tileiras_version(const std::filesystem::path& program = tileiras());

}  // namespace deplo::measure::cuda
