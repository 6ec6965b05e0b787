#include "ir/interpret/interpret_case.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/rng.h"

namespace deplo::ir {
namespace {

Values random_values(std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  Values values(count);
  for (double& v : values) v = static_cast<float>(rng.uniform(-1, 1));
  return values;
}

}  // namespace

Memory random_memory(const Program& program) {
  Memory memory;
  std::uint64_t seed = 1;
  for (const Buffer& b : program.buffers) {
    const auto size = static_cast<std::size_t>(span(b));
    memory[b.name] = b.role == Role::input ? random_values(size, seed++) : Values(size, NAN);
  }
  return memory;
}

Memory run(const std::string& text, const Limits& limits) {
  const Program program = parse(text);
  Memory memory = random_memory(program);
  interpret(program, memory, limits);
  return memory;
}

void expect_near(const Values& found, const Values& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-12) << "at " << i;
}

std::string error_of(const std::string& text, const Limits& limits) {
  try {
    run(text, limits);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string with(std::string text, std::string_view place, std::string_view replacement) {
  const std::size_t at = text.find(place);
  EXPECT_NE(at, std::string::npos) << place;
  return at == std::string::npos ? text : text.replace(at, place.size(), replacement);
}

Values product(const Memory& memory, std::size_t m, std::size_t n, std::size_t k) {
  Values c(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t x = 0; x < k; ++x) c[i * n + j] += memory.at("a")[i * k + x] * memory.at("b")[x * n + j];
  return c;
}

}  // namespace deplo::ir
