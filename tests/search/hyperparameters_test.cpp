// Hyperparameters: defaults are legal. A bad name or value gives an error of one line that says what would be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "search/searcher.h"
#include "search/toy_space.h"

namespace deplo::search {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr Hyperparameter table[] = {
    number("c", "0.5", 0, 10, "0.1 1", "a number"),
    integer("depth", "3", 1, 9, "1 3", "an integer"),
    word("backup", "max", "max mean", "a word"),
};

TEST(Parameters, DefaultsAndValues) {
  const Settings fallback("toy", table, {});
  EXPECT_EQ(fallback.number("c"), 0.5);
  EXPECT_EQ(fallback.integer("depth"), 3u);
  EXPECT_EQ(fallback.word("backup"), "max");
  const Settings set("toy", table, {.seed = 4, .parameters = {{"c", "1e1"}, {"depth", "1"}, {"backup", "mean"}}});
  EXPECT_EQ(set.seed(), 4U);
  EXPECT_EQ(set.number("c"), 10);
  EXPECT_EQ(set.integer("depth"), 1u);
  EXPECT_EQ(set.word("backup"), "mean");
}

TEST(Parameters, BadOnesAreOneLine) {
  const auto message = [](const char* name, const char* value) {
    return [=] { check_hyperparameter("toy", table, name, value, "x.yaml:3"); };
  };
  EXPECT_THAT(message("bakcup", "max"),
              ThrowsMessage<Error>("x.yaml:3: expected a hyperparameter of toy (c, depth, backup), found 'bakcup'; did "
                                   "you mean 'backup'?"));
  for (const char* bad : {"", "-0.1", "10.5", "nan", "inf", "1 ", "1x", "x"})
    EXPECT_THAT(message("c", bad), ThrowsMessage<Error>(HasSubstr("c: expected a number between 0 and 10, found '")));
  for (const char* bad : {"", "0", "10", "1.5", "3e0", "99999999999999999999"})
    EXPECT_THAT(message("depth", bad), ThrowsMessage<Error>(HasSubstr("depth: expected an integer between 1 and 9")));
  for (const char* bad : {"", "maxmean", "Max"})
    EXPECT_THAT(message("backup", bad), ThrowsMessage<Error>(HasSubstr("backup: expected one of max, mean, found '")));
}

TEST(Parameters, DefaultsAndGridsOfAllSearchersAreLegal) {
  const toy::ToySpace space = toy::levels({2, 3});
  for (const SearcherKind* kind : searchers())
    for (const Hyperparameter& parameter : kind->parameters) {
      std::vector<std::string> values = grid(parameter);
      EXPECT_GE(values.size(), 2U) << kind->name << " " << parameter.name;
      values.emplace_back(parameter.fallback);
      for (const std::string& value : values)
        EXPECT_NE(make_searcher(kind->name, space, {.parameters = {{std::string(parameter.name), value}}}), nullptr);
    }
}

TEST(Parameters, UnknownOnesAreRefusedByEverySearcher) {
  const toy::ToySpace space = toy::levels({2, 3});
  for (const SearcherKind* kind : searchers())
    EXPECT_THAT(
        [&] {
          make_searcher(kind->name, space, {.parameters = {{"no such", "1"}}});
        },
        ThrowsMessage<Error>(HasSubstr("expected a hyperparameter of " + std::string(kind->name))));
}

}  // namespace
}  // namespace deplo::search
