#include "core/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace deplo {
namespace {

TEST(File, ATextHasNoByteOrderMark) {
  const auto file = std::filesystem::temp_directory_path() / ("deplo_text_" + std::to_string(getpid()));
  const auto text = [&](const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
    return read_text(file);
  };
  EXPECT_EQ(text("\xef\xbb\xbf# 1\n"), "# 1\n");
  EXPECT_EQ(text("# \xef\xbb\xbf 1\n"), "# \xef\xbb\xbf 1\n");
  EXPECT_EQ(text("\xef\xbb"), "\xef\xbb");
  EXPECT_EQ(text(""), "");
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace deplo
