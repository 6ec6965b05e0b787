#include "ir/tensor/inverse.h"

#include <gtest/gtest.h>

#include "ir/tensor/tensor.h"

namespace deplo::ir::tensor::inverse_test {
namespace {

// Returns the inverse of view[i, j, …] = source[index] as text, with one expression for each dimension of the view.
std::string inverted(const std::vector<Expr>& index, const Shape& source, const Shape& view) {
  const auto result = inverse(index, source, view);
  if (!result) return "none";
  std::string text;
  for (const Expr& e : *result) text += (text.empty() ? "" : ", ") + print(simplify(e));
  return text;
}

TEST(Inverse, OfPermutationsAndQuotients) {
  const Expr i = coordinate(0), j = coordinate(1), k = coordinate(2);
  EXPECT_EQ(inverted({j, i}, {3, 4}, {4, 3}), "j, i");
  EXPECT_EQ(inverted({0, k, i, 0}, {1, 5, 2, 1}, {2, 1, 5}), "k, 0, j");
  EXPECT_EQ(inverted({j / 4, i, j % 4}, {3, 2, 4}, {2, 12}), "j, ((i * 4) + k)");
  EXPECT_EQ(inverted({j % 2, i, j / 2}, {2, 3, 5}, {3, 10}), "j, ((k * 2) + i)");
  EXPECT_EQ(inverted({3 - i, j}, {4, 2}, {4, 2}), "(3 - i), j") << "a flip";
  EXPECT_EQ(inverted({j, 3 - i}, {2, 4}, {4, 2}), "(3 - j), i") << "and a permutation";
  EXPECT_EQ(inverted({i / 6, (i / 2) % 3, i % 2}, {4, 3, 2}, {24}), "(((i * 6) + (j * 2)) + k)");
}

TEST(Inverse, NoneWhereElementsRepeatOrAreLeftOut) {
  const Expr i = coordinate(0), j = coordinate(1);
  EXPECT_EQ(inverted({i}, {3}, {3, 2}), "none") << "a broadcast";
  EXPECT_EQ(inverted({i + 1}, {4}, {4}), "none") << "a shift";
  EXPECT_EQ(inverted({4 - i}, {4}, {4}), "none") << "a flip and a shift";
  EXPECT_EQ(inverted({3 - j, i, j % 2}, {4, 3, 2}, {3, 8}), "none") << "a flip of a part";
  EXPECT_EQ(inverted({i}, {6}, {3}), "none") << "a slice";
  EXPECT_EQ(inverted({i, i}, {2, 3}, {2, 3}), "none") << "a diagonal";
  EXPECT_EQ(inverted({j / 2, j % 3}, {3, 3}, {1, 9}), "none") << "parts that do not fit";
  EXPECT_EQ(inverted({j % 3, j % 3}, {3, 3}, {1, 9}), "none") << "a part twice";
}

}  // namespace
}  // namespace deplo::ir::tensor::inverse_test
