// nvdisasm: finding the program, running it, and its output for NVRTC's code.
#include "measure/cuda/sass/disassemble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "measure/cuda/fixture.h"
#include "measure/cuda/library.h"
#include "measure/cuda/sass/instruction_mix.h"
#include "measure/store_fixture.h"

namespace deplo::measure::cuda::sass {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

fs::path write_program(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

/// Sets an environment variable that already exists, and restores its value when destroyed.
class VariableIs {
 public:
  VariableIs(const char* name, const std::string& value) : name_(name), before_(std::getenv(name)) {
    setenv(name, value.c_str(), 1);
  }
  ~VariableIs() { setenv(name_, before_.c_str(), 1); }
  VariableIs(const VariableIs&) = delete;
  VariableIs& operator=(const VariableIs&) = delete;

 private:
  const char* name_;
  std::string before_;
};

TEST(FindProgram, OnThePathAndInWheels) {
  const TemporaryFolder folder;
  const std::string name = "deplo_no_such_program";
  const VariableIs path("PATH", "relative:" + (folder.path() / "env/bin").string());
  EXPECT_FALSE(find_program(name));
  const fs::path wheel = folder.path() / "env/lib/python3.11/site-packages/nvidia/cu13";
  write_program(wheel / "bin" / name, "#!/bin/sh\n");
  EXPECT_EQ(find_program(name), wheel / "bin" / name);
  EXPECT_THAT(library_folders(), ::testing::Contains(wheel / "lib"));
  fs::create_directories(folder.path() / "env/bin" / name);
  EXPECT_EQ(find_program(name), wheel / "bin" / name) << "a folder is no program";
  fs::remove(folder.path() / "env/bin" / name);
  write_program(folder.path() / "env/bin" / name, "#!/bin/sh\n");
  EXPECT_EQ(find_program(name), folder.path() / "env/bin" / name);
}

TEST(LibraryFolders, PackagesOfTheUserAndOfTheProcessor) {
  const TemporaryFolder folder;
  const VariableIs path("PATH", (folder.path() / "env/bin").string());
  const VariableIs home("HOME", (folder.path() / "home").string());
  const fs::path own = folder.path() / "home/.local/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib";
  const fs::path wide = folder.path() / "env/lib64/python3.13/site-packages/nvidia/cublas/lib";
  EXPECT_THAT(library_folders(), ::testing::Not(::testing::Contains(own)));
  fs::create_directories(own);
  fs::create_directories(wide);
  EXPECT_THAT(library_folders(), ::testing::IsSupersetOf({own, wide}));
}

TEST(Disassemble, FailuresAreOneLine) {
  const TemporaryFolder folder;
  const auto error_of = [&](const fs::path& program) {
    try {
      disassemble("no cubin", program);
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::environment);
      return std::string(e.what());
    }
    return std::string("no error");
  };
  const fs::path refuses = write_program(folder.path() / "refuses", "#!/bin/sh\necho 'fatal: no ELF' >&2\nexit 1\n");
  EXPECT_EQ(error_of(refuses), refuses.string() + ": fatal: no ELF");
  EXPECT_THAT(error_of(write_program(folder.path() / "silent", "#!/bin/sh\nexit 3\n")), HasSubstr("ended with code 3"));
  EXPECT_THAT(error_of(write_program(folder.path() / "dies", "#!/bin/sh\nkill -9 $$\n")), HasSubstr("by signal 9"));
  EXPECT_THAT(error_of(folder.path() / "absent"), HasSubstr("No such file or directory"));
  const fs::path echoes = write_program(folder.path() / "echoes", "#!/bin/sh\necho \"$1\"; cat \"$2\"\n");
  EXPECT_EQ(disassemble("bytes", echoes), "--print-code\nbytes");
}

TEST(Disassemble, WhatNvrtcMakes) {
  if (!find_program("nvdisasm")) GTEST_SKIP() << "no nvdisasm";
  for (const char* architecture : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
    DEPLO_NEED_NVRTC(architecture);
    const auto output = Nvrtc::get().compile(small_source().text, Nvrtc::get().options(architecture));
    const Listing listing = parse_listing(disassemble(output.cubin));
    EXPECT_EQ(listing.architecture, architecture);
    const KernelMix kernel = kernel_mix(listing);
    EXPECT_TRUE(kernel.whole.unknown.empty()) << ::testing::PrintToString(kernel.whole.unknown);
    EXPECT_EQ(kernel.whole.kinds.at({InstructionClass::shared_store, 4}), 1);
    EXPECT_EQ(kernel.whole.kinds.at({InstructionClass::shared_load, 4}), 1);
    EXPECT_EQ(kernel.whole.kinds.at({InstructionClass::special, 0}), 1) << "of expf";
    EXPECT_TRUE(kernel.loops.empty());
  }
}

}  // namespace
}  // namespace deplo::measure::cuda::sass
