#include "core/text/text.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/progress.h"

namespace deplo {
namespace {

TEST(Text, CutsByColumnsNotBytes) {
  EXPECT_EQ(columns("12 µs"), 5u);
  EXPECT_EQ(cut("12 µs", 5), "12 µs");
  EXPECT_EQ(cut("12 µs", 4), "12 …");
  EXPECT_EQ(cut("µµµµ", 3), "µµ…");
  EXPECT_EQ(cut("abc", 1), "…");
  EXPECT_EQ(cut("abc", 0), "");
}

TEST(Text, JoinsTextsAndNumbers) {
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join(std::vector<std::string>{"", "b", "c d"}, ", "), ", b, c d");
  EXPECT_EQ(join(std::vector<std::int64_t>{-1, 2}, " or "), "-1 or 2");
  EXPECT_EQ(join(std::vector<int>{1, 2}, ", ", [](int n) { return std::string(static_cast<std::size_t>(n), 'x'); }),
            "x, xx");
}

TEST(Text, NumbersAsPeopleReadThem) {
  EXPECT_EQ(significant(0.01234), "0.012");
  EXPECT_EQ(significant(1.234), "1.23");
  EXPECT_EQ(significant(812.34), "812");
  EXPECT_EQ(significant(0.0 / 0.0), "-");
  EXPECT_EQ(duration(4.2), "0:05");
  EXPECT_EQ(duration(754), "12:34");
  EXPECT_EQ(duration(3723), "1:02:03");
  EXPECT_EQ(duration(-1), "0:00");
}

TEST(Text, DoesNothingToATerminal) {
  EXPECT_EQ(printable("12 µs, “quoted”, 木, 🙂"), "12 µs, “quoted”, 木, 🙂");
  EXPECT_EQ(printable("\x1b[31mred\x1b]0;title\x07"), "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(printable("two\nlines\tand\r"), "two\\x0alines\\x09and\\x0d");
  EXPECT_EQ(printable_lines("two\nlines\tand\r"), "two\nlines\tand\\x0d");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x7f"), "\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m")
      << "CSI of a terminal that takes C1";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "gnp"),
            "\\u202egnp")
      << "right to left";
  // Invalid UTF-8: a stray byte, a truncated character, an overlong ESC, a surrogate, a character beyond Unicode.
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("a\xe2\x82"), "a\\xe2\\x82");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Progress, NarrowWindowsShortenTheNameFirst) {
  EXPECT_EQ(fit_status("matmul.qwen.q_proj", "3 trials", 80), "matmul.qwen.q_proj  3 trials");
  EXPECT_EQ(fit_status("matmul.qwen.q_proj", "3 trials", 20), "matmul.qw…  3 trials");
  EXPECT_EQ(fit_status("matmul.qwen.q_proj", "3 trials", 12), "matmul.…  3…");
  EXPECT_EQ(fit_status("matmul.qwen.q_proj", "3 trials", 1), "…");
  EXPECT_EQ(fit_status("a", "3 trials", 0), "a  3 trials");
}

TEST(Progress, OffATerminalLinesArePlainAndStatusIsSilent) {
  std::FILE* out = std::tmpfile();
  {
    Progress progress(out);
    progress.status("k", "1 trial");
    progress.news("first");
    progress.news("too soon");
    progress.line("always\x1b");
    Progress quiet(out, true);
    quiet.line("never");
  }
  std::rewind(out);
  char text[100] = {};
  const std::size_t size = std::fread(text, 1, sizeof text, out);
  EXPECT_EQ(std::string(text, size), "first\nalways\\x1b\n");
  std::fclose(out);
}

}  // namespace
}  // namespace deplo
