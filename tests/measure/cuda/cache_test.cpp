// The output of NVRTC is cached on disk.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "measure/cuda/compiler/headers.h"
#include "measure/cuda/fixture.h"
#include "measure/disk_cache.h"
#include "measure/store_fixture.h"

namespace deplo::measure::cuda {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

TEST(CompileCache, TheSameIsBuiltOnce) {
  DEPLO_NEED_NVRTC("sm_90");
  const TemporaryFolder folder;
  DiskCache cache(folder.path());
  const CompileOptions options{.cache = &cache};
  const auto build = [&](const ir::KernelSource& source, const char* architecture) {
    const auto cubin = compile_cubin(source, architecture, options);
    EXPECT_TRUE(cubin.ok());
    return cubin.value();
  };
  const Cubin first = build(small_source(), "sm_90"), second = build(small_source(), "sm_90");
  EXPECT_FALSE(first.cached);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(first.code, second.code);
  EXPECT_EQ(first.resources.binary_digest, second.resources.binary_digest);
  EXPECT_EQ(first.resources.registers, second.resources.registers);
  EXPECT_EQ(second.resources.static_shared_bytes, 1200);
  EXPECT_FALSE(build(small_source(), "sm_80").cached);
  ir::KernelSource other = small_source();
  other.text += "\n";
  EXPECT_FALSE(build(other, "sm_90").cached);

  // An intact entry that is not a cubin, as another program might have left it.
  for (const fs::path& file : files_in(folder.path())) cache.put(file.stem().string(), "5\nhello world");
  EXPECT_FALSE(build(small_source(), "sm_90").cached);
  EXPECT_TRUE(build(small_source(), "sm_90").cached);
  EXPECT_FALSE(compile_cubin(source_of("not C++"), "sm_90", options).ok());
  EXPECT_EQ(files_in(folder.path()).size(), 3u) << "failures are not kept";
}

TEST(CompileCache, CodeFollowsTheHeadersOfTheUser) {
  DEPLO_NEED_NVRTC("sm_90");
  const TemporaryFolder folder, headers;
  DiskCache cache(folder.path());
  const auto digest = [&](const std::string& include, const std::string& value) {
    std::ofstream(headers.path() / "value.h") << "#define VALUE " << value << "\n";
    const ir::KernelSource source =
        source_of("#include " + include + "\nextern \"C\" __global__ void k(float* x) { *x = VALUE; }\n");
    const auto cubin = compile_cubin(source, "sm_90", {.cache = &cache, .more = "-I" + headers.path().string()});
    EXPECT_TRUE(cubin.ok());
    return cubin.value().resources.binary_digest;
  };
  EXPECT_NE(digest("\"value.h\"", "1"), digest("\"value.h\"", "2"));
  EXPECT_NE(digest("<value.h>", "1"), digest("<value.h>", "2"));
  EXPECT_FALSE(may_include_own("# include <cuda_fp16.h>\n", "-lineinfo"));
  EXPECT_TRUE(may_include_own("# include <cuda_fp16.h>\n#  include\"a.h\"\n", ""));
  EXPECT_TRUE(may_include_own("#include HEADER\n", ""));
}

}  // namespace
}  // namespace deplo::measure::cuda
