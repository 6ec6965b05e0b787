// Runs tileiras, NVIDIA's compiler of tile programs. Its kernels are a baseline for deplo's. Needs no GPU and no
// driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace deplo::measure::cuda {

/// Returns the path of tileiras. If there is none, throws a one-line Error(environment) that says which folders were
/// searched and how to get tileiras.
std::filesystem::path tileiras();

/// Compiles all entries of a tile program to a cubin, at the highest optimisation level. `bytecode`: its version must
/// not be newer than that of tileiras (13.3 needs tileiras 13.3). `architecture`: "sm_90". Throws Error(environment) if
/// tileiras cannot be run, or if it refuses the bytecode or the architecture.
std::string compile_tile_bytecode(std::string_view bytecode, std::string_view architecture,
                                  const std::filesystem::path& program = tileiras());

/// Returns the version, such as "13.5.37". Throws Error(environment) if tileiras cannot be run.
std::string tileiras_version(const std::filesystem::path& program = tileiras());

}  // namespace deplo::measure::cuda
