#include "apps/inspect/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/text/split.h"

namespace deplo::apps {
namespace {

struct Line {
  char mark;  // ' ', '-' or '+'
  std::string_view text;
};

// Aligns lines by their longest common subsequence. Programs have some hundred lines, so the quadratic table is small.
std::vector<Line> align(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<Line> lines;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      lines.push_back({' ', a[i++]});
      ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back({'-', a[i++]});
    } else {
      lines.push_back({'+', b[j++]});
    }
  }
  return lines;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after) {
  constexpr std::size_t context = 3;
  const auto a = lines_of(before), b = lines_of(after);
  const std::vector<Line> lines = align(a, b);
  std::vector<bool> shown(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].mark != ' ')
      for (std::size_t j = i - std::min(i, context); j < std::min(lines.size(), i + context + 1); ++j) shown[j] = true;
  std::string text;
  std::size_t from_a = 1, from_b = 1;  // line numbers
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (shown[i] && (i == 0 || !shown[i - 1])) {
      std::size_t in_a = 0, in_b = 0;
      for (std::size_t j = i; j < lines.size() && shown[j]; ++j) {
        in_a += lines[j].mark != '+';
        in_b += lines[j].mark != '-';
      }
      text += fmt::format("@@ -{},{} +{},{} @@\n", from_a, in_a, from_b, in_b);
    }
    if (shown[i]) text += fmt::format("{}{}\n", lines[i].mark, lines[i].text);
    from_a += lines[i].mark != '+';
    from_b += lines[i].mark != '-';
  }
  return text;
}

}  // namespace deplo::apps
