// Every kernel of configs/kernels is a verified Loop program that prints as its own text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "ir/program.h"

namespace deplo::ir {
namespace {

std::map<std::string, std::string> kernel_texts() {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(DEPLO_SOURCE_DIR "/configs/kernels")) {
    if (entry.path().extension() != ".loop") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    texts[entry.path().stem()] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  return texts;
}

Program instance(const std::string& file, const std::string& text, std::int64_t size) {
  Symbols symbols;
  for (const std::string& s : declared_symbols(text, file)) symbols[s] = size++;
  return parse(text, symbols, file);
}

TEST(Kernels, EveryFileParsesVerifiesAndRoundTrips) {
  const auto texts = kernel_texts();
  for (const char* file : {"gelu", "matmul", "matmul_add", "rmsnorm", "silu_mul", "softmax"})
    EXPECT_TRUE(texts.contains(file));
  for (const auto& [file, text] : texts)
    for (const std::int64_t size : {1, 2, 33, 777}) {
      const Program p = instance(file, text, size);
      EXPECT_EQ(p.name, file);
      EXPECT_EQ(verify(p), "") << file;
      EXPECT_EQ(parse(print(p)), p);
      EXPECT_TRUE(text.starts_with("# ")) << "the first line says the formula: " << file;
    }
}

TEST(Kernels, MatmulIsTheListingOfTheDocumentation) {
  const Program p = parse(kernel_texts().at("matmul"), {{"M", 33}, {"N", 509}, {"K", 777}});
  EXPECT_EQ(print(p), R"(=== loop: matmul ===
input a: f32[33, 777]
input b: f32[777, 509]
output c: f32[33, 509]
for a0 in 0..33: # free
  for a1 in 0..509: # free
    for a2 in 0..777: # reduce
      in0 = load a[a0, a2]
      in1 = load b[a2, a1]
      v0 = multiply(in0, in1)
      acc0 <- add(acc0, v0)
    c[a0, a1] = acc0
)");
}

}  // namespace
}  // namespace deplo::ir
