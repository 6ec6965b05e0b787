#include "core/hash.h"

#include <gtest/gtest.h>

namespace deplo {
namespace {

// The published vector for the empty input with seed 0 (xxHash's own sanity checks) fixes the byte order for ever:
// stored keys depend on it.
TEST(Digest, PublishedVector) { EXPECT_EQ(digest(""), "99aa06d3014798d86001c324468d497f"); }

TEST(Digest, DependsOnEveryByte) {
  EXPECT_EQ(digest("abc").size(), 32U);
  EXPECT_EQ(digest("abc"), digest(std::string("abc")));
  EXPECT_NE(digest("abc"), digest("abd"));
  EXPECT_NE(digest(std::string_view("a\0b", 3)), digest(std::string_view("a\0c", 3)));
}

}  // namespace
}  // namespace deplo
