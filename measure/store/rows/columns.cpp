#include "measure/store/rows/columns.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>

namespace deplo::measure {

std::string ColumnNames::insert_into(std::string_view table) const {
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table, text_, marks_);
}

std::string print_samples(const std::vector<double>& samples) {
  std::string text = "[";
  for (const double sample : samples) {
    if (text.size() > 1) text += ',';
    if (std::isfinite(sample))
      fmt::format_to(std::back_inserter(text), "{}", sample);  // the shortest text that reads back exactly
    else
      text += "null";
  }
  return text + "]";
}

std::vector<double> parse_samples(std::string_view text) {
  std::vector<double> samples;
  const char* at = text.data();
  for (const char* end = at + text.size(); at < end; ++at) {
    double value = std::nan("");
    if (*at == 'n') {
      at += 3;
    } else if (const auto [next, error] = std::from_chars(at, end, value); error == std::errc()) {
      at = next - 1;
    } else {
      continue;  // brackets, commas, spaces
    }
    samples.push_back(value);
  }
  return samples;
}

}  // namespace deplo::measure
