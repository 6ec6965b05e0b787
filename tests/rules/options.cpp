#include "rules/options.h"

#include <charconv>

namespace deplo::rules {
namespace {

bool parse_number(const std::string& text, std::uint64_t least, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && number >= least;
}

}  // namespace

TestOptions& test_options() {
  static TestOptions options;
  return options;
}

std::string parse_options(const std::vector<std::string>& words, TestOptions& options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    std::uint64_t* const field = name == "--cases"  ? &options.cases
                                 : name == "--seed" ? &options.seed
                                 : name == "--jobs" ? &options.jobs
                                                    : nullptr;
    if (field == nullptr) return "expected --cases N, --seed S or --jobs J, found " + words[i];
    const bool inside = equals != std::string::npos;
    if (!inside && ++i == words.size()) return name + ": expected a number, found none";
    const std::string value = inside ? words[i].substr(equals + 1) : words[i];
    if (!parse_number(value, name == "--cases" ? 0 : 1, *field))
      return name + ": expected a number, found '" + value + "'";
  }
  return "";
}

}  // namespace deplo::rules
