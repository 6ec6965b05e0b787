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
    const bool inside = equals != std::string::npos;
    const auto value_of = [&] { return inside ? words[i].substr(equals + 1) : words[++i]; };
    std::uint64_t* const field = name == "--cases"  ? &options.cases
                                 : name == "--seed" ? &options.seed
                                 : name == "--jobs" ? &options.jobs
                                                    : nullptr;
    if (field == nullptr && name != "--kernels")
      return "expected --cases N, --seed S, --jobs J or --kernels PREFIX, found " + words[i];
    if (!inside && i + 1 == words.size())
      return name + (field == nullptr ? ": expected a prefix, found none" : ": expected a number, found none");
    const std::string value = value_of();
    if (field == nullptr)
      options.kernels = value;
    else if (!parse_number(value, name == "--cases" ? 0 : 1, *field))
      return name + ": expected a number, found '" + value + "'";
  }
  return "";
}

}  // namespace deplo::rules
