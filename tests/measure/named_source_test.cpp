#include "measure/named_source.h"

#include <gtest/gtest.h>

namespace deplo::measure {
namespace {

TEST(NamedSource, NamesTheFileWithoutFolders) {
  EXPECT_EQ(with_file_name("a\nb\n", "/home/me/k.cu"), "#line 1 \"k.cu\"\na\nb\n");
  EXPECT_EQ(with_file_name("", "a \"b\" \\.cl"), "#line 1 \"a \\\"b\\\" \\\\.cl\"\n");
}

}  // namespace
}  // namespace deplo::measure
