#include "core/text.h"

#include <gtest/gtest.h>

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
    progress.line("always");
    Progress quiet(out, true);
    quiet.line("never");
  }
  std::rewind(out);
  char text[100] = {};
  const std::size_t size = std::fread(text, 1, sizeof text, out);
  EXPECT_EQ(std::string(text, size), "first\nalways\n");
  std::fclose(out);
}

}  // namespace
}  // namespace deplo
