// NVIDIA's compiler for tile programs, which runs as a child process. Its kernels are a baseline.
#include "measure/cuda/compiler/tileiras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/file.h"
#include "ir/tile_program/launches.h"
#include "ir/tile_program/program.h"
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
  const std::string bytes = read_file(DEPLO_SOURCE_DIR "/experiments/tile/exported/scale_13.1.tileirbc");
  const auto facts = inspect_cubin(compile_tile_bytecode(bytes, "sm_120"), "scale");
  ASSERT_TRUE(facts);
  EXPECT_GT(facts->registers, 0);
  EXPECT_THROW(compile_tile_bytecode("no bytecode", "sm_120"), Error);
}

TEST(Tileiras, SaysItsVersion) {
  if (!find_program("tileiras")) GTEST_SKIP() << "no tileiras";
  EXPECT_THAT(tileiras_version(), ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_THROW(tileiras_version("/bin/cat"), Error);
}

// The parameters of a cubin have the sizes that a launch passes.
class TileirasCubin : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!find_program("tileiras")) GTEST_SKIP() << "no tileiras";
  }
  /// Checks every program in the folder. Returns how many programs there are.
  static int check_parameters(const fs::path& folder) {
    int programs = 0;
    for (const auto& file : fs::directory_iterator(folder)) {
      if (file.path().extension() != ".tileirbc") continue;
      ++programs;
      const std::string bytes = read_file(file.path());
      const auto program = ir::tile_program::read_program(bytes, file.path().string());
      const std::string cubin = compile_tile_bytecode(bytes, GetParam());
      for (const ir::tile_program::Entry& entry : program.entries) {
        std::vector<std::size_t> expected;
        for (const ir::tile_program::ValueId parameter : entry.parameters) {
          const ir::tile_program::Type& type = *entry.values[parameter].type;
          expected.push_back(type.pointer ? 8 : static_cast<std::size_t>(ir::bytes(type.element)));
        }
        const auto facts = inspect_cubin(cubin, entry.name);
        EXPECT_TRUE(facts) << file;
        if (!facts) continue;
        EXPECT_EQ(facts->parameters, expected) << file;
        EXPECT_GT(facts->registers, 0) << file;
      }
    }
    return programs;
  }
};

TEST_P(TileirasCubin, TakesTheEntrysParameters) {
  EXPECT_GT(check_parameters(DEPLO_SOURCE_DIR "/experiments/tile/exported"), 20);
}

TEST_P(TileirasCubin, OfSharedProgramsTakesTheEntrysParameters) {
  const fs::path folder = ir::tile_program::shared_programs();
  if (folder.empty()) GTEST_SKIP() << "no ../shared/tile_programs";
  EXPECT_EQ(check_parameters(folder), 8);
}

INSTANTIATE_TEST_SUITE_P(Architectures, TileirasCubin, ::testing::Values("sm_80", "sm_90", "sm_100", "sm_120"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace deplo::measure::cuda
