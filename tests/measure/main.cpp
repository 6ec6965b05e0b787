#include <gtest/gtest.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "drawn_seeds.h"
#include "measure/faulty.h"
#include "measure/ptx/schedule_case.h"

namespace {

bool read(std::string_view text, std::uint64_t& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size() && to > 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (const int code = deplo::measure::worker::run_as_worker(argc, argv); code >= 0) return code;
  ::testing::InitGoogleTest(&argc, argv);
  auto& cases = deplo::measure::ptx::many_cases();
  cases.first = deplo::first_seed(cases.first);
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (i + 1 < argc && (flag == "--cases" || flag == "--seed") &&
        read(argv[i + 1], flag == "--seed" ? cases.first : cases.count))
      continue;
    std::fprintf(stderr, "expected --cases COUNT or --seed FIRST, numbers above 0, found %s\n", argv[i]);
    return 1;
  }
  return RUN_ALL_TESTS();
}
