#include "core/text/wrap.h"

#include <gtest/gtest.h>

namespace deplo {
namespace {

TEST(Wrap, BreaksAtSpacesAndKeepsLineBreaks) {
  EXPECT_EQ(wrap("one two three", 8), "one two\nthree");
  EXPECT_EQ(wrap("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrap("one two three", 6), "one\ntwo\nthree");
  EXPECT_EQ(wrap("one two", 20, 4, 16), "one\n    two") << "16 columns are used";
  EXPECT_EQ(wrap("a word_that_is_longer b", 8, 2), "a\n  word_that_is_longer\n  b");
  EXPECT_EQ(wrap("a\n\nb", 8, 2), "a\n\n  b") << "no spaces on empty lines";
  EXPECT_EQ(wrap("µµµ µµµ", 7), "µµµ µµµ") << "columns, not bytes";
  EXPECT_EQ(wrap("", 8), "");
  EXPECT_EQ(wrap("a\n", 8, 2), "a\n");
}

TEST(Wrap, CommandsStayCommands) {
  EXPECT_EQ(wrap_command("deplo run -c x", 11, 2), "deplo run \\\n  -c x");
  EXPECT_EQ(wrap_command("deplo run -c x", 14), "deplo run -c x");
}

}  // namespace
}  // namespace deplo
