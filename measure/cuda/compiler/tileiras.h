// Runs tileiras, NVIDIA's compiler of tile programs, whose kernels are a baseline for deplo's. Needs no GPU and no
// driver.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace deplo::measure::cuda {

/// The path of tileiras. If there is none, throws Error(environment) in one line: where it was searched, and how to get
/// it.
std::filesystem::path tileiras();

/// The cubin of all entries of a tile program, at its highest level of optimisation. `bytecode`: of no newer version
/// than the program's (13.3 wants tileiras 13.3); `architecture`: "sm_90". Throws Error(environment) where it cannot be
/// run, or refuses the bytecode or the architecture.
std::string compile_tile_bytecode(std::string_view bytecode, std::string_view architecture,
                                  const std::filesystem::path& program = tileiras());

/// "13.5.37". Throws Error(environment) if tileiras cannot be run.
std::string tileiras_version(const std::filesystem::path& program = tileiras());

}  // namespace deplo::measure::cuda
