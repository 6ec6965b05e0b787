// NVIDIA's compiler of tile programs, run as a program: a baseline.
#include "measure/cuda/compiler/tileiras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "measure/cuda/compiler/elf.h"
#include "measure/cuda/library.h"
#include "measure/store_fixture.h"

namespace deplo::measure::cuda {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(Tileiras, IsGivenTheFileTheArchitectureAndItsOwnToolkit) {
  const TemporaryFolder folder;
  const fs::path program = folder.path() / "toolkit/bin/tileiras";
  fs::create_directories(program.parent_path());
  std::ofstream(program) << "#!/bin/sh\n"
                            "[ \"$1\" = --gpu-name ] && [ \"$4\" = -o ] || exit 1\n"
                            "{ echo \"$2\"; echo \"$CUDA_HOME\"; cat \"$3\"; } > \"$5\"; echo said\n";
  fs::permissions(program, fs::perms::owner_all);
  EXPECT_EQ(compile_tile_bytecode("bytes", "sm_90", program),
            "sm_90\n" + (folder.path() / "toolkit").string() + "\nbytes");
}

TEST(Tileiras, MakesACubin) {
  if (!find_program("tileiras")) GTEST_SKIP() << "no tileiras";
  const std::string bytes = read_file(DEPLO_SOURCE_DIR "/tests/data/tile_programs/scale_13.1.tileirbc");
  const auto facts = inspect_cubin(compile_tile_bytecode(bytes, "sm_120"), "scale");
  ASSERT_TRUE(facts);
  EXPECT_GT(facts->registers, 0);
  EXPECT_THROW(compile_tile_bytecode("no bytecode", "sm_120"), Error);
}

}  // namespace
}  // namespace deplo::measure::cuda
