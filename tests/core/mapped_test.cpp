#include "core/mapped.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace deplo {
namespace {

struct Fruit {
  std::string_view name;
  int seeds() const { return 2; }
};

TEST(Mapped, ListsWhatAFunctionOrAMemberReturns) {
  const std::vector<Fruit> fruits = {{"apple"}, {"pear"}};
  EXPECT_EQ(mapped(fruits, [](const Fruit& f) { return f.name.size(); }), (std::vector<std::size_t>{5, 4}));
  EXPECT_EQ(mapped(fruits, &Fruit::seeds), (std::vector<int>{2, 2}));
  EXPECT_EQ(mapped<std::string>(fruits, &Fruit::name), (std::vector<std::string>{"apple", "pear"}));
  EXPECT_TRUE(mapped(std::vector<Fruit>(), &Fruit::name).empty());
}

}  // namespace
}  // namespace deplo
