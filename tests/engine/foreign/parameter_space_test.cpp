// Spaces of kernel files: expressions, and legal configurations, which are compared with brute force.
#include "engine/foreign/parameter_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "drawn_seeds.h"
#include "search/count.h"

namespace deplo::engine::foreign {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Scalar value(const std::string& text, const std::vector<Operand>& values = {}) {
  return Expression::parse(text, "test").scalar(values);
}
Scalar whole(std::int64_t integer) { return integer; }

TEST(ForeignExpression, MeansWhatPythonMeans) {
  const std::pair<const char*, Scalar> cases[] = {
      {"2 + 3 * 4", whole(14)},
      {"(2 + 3) * 4", whole(20)},
      {"-7 // 2", whole(-4)},
      {"-7 % 3", whole(2)},
      {"7 % -3", whole(-2)},
      {"7 / 2", 3.5},
      {"2 ** 3 ** 2", whole(512)},
      {"-2 ** 2", whole(-4)},
      {"2 ** -1", 0.5},
      {"1 < 2 < 3", whole(1)},
      {"1 < 3 < 2", whole(0)},
      {"not 1 == 2", whole(1)},
      {"!(1 == 2) && 3 > 2 || 0", whole(1)},
      {"0 and 1 / 0", whole(0)},
      {"1 or 1 / 0", whole(1)},
      {"0 or 4 or 5", whole(4)},
      {"3 and 8", whole(8)},
      {"8 * (0 and 1 / 0)", whole(0)},
      {"'' or 'x'", std::string("x")},
      {"3 && 8", whole(1)},
      {"0 || 4", whole(1)},
      {"!2 == 1", whole(0)},
      {"!0 + 1", whole(2)},
      {"1 + !!7", whole(2)},
      {"-7.5 // 2", -4.0},
      {"-7.5 % 2", 0.5},
      {"1.0 // 0.1", 9.0},
      {"1.0 % 0.1", 0.09999999999999995},
      {"-9223372036854775808", -0x1p63},
      {"3 in [1, 2, 3]", whole(1)},
      {"3 not in (1, 2)", whole(1)},
      {"'a' in ['a', 'b']", whole(1)},
      {"5 if 0 else 6", whole(6)},
      {"1 ? 5 : 6", whole(5)},
      {"min(3, 1, 2) + max([4, 9])", whole(10)},
      {"ceil(7 / 2)", whole(4)},
      {"int(7 / 2)", whole(3)},
      {"6 & 3 | 8 ^ 1", whole(11)},
      {"1 << 4 >> 2", whole(4)},
      {"0x10", whole(16)},
      {"1e2", 100.0},
      {"1 == 1.0", whole(1)},
      {"len(range(2, 10, 3))", whole(3)},
      {"[1, 2, 3][-1]", whole(3)},
      {"True + True", whole(2)},
      {"max([2 ** i for i in range(5)])", whole(16)},
      {"len([1] + [2 * i for i in range(1, 4)] + list(range(2)))", whole(6)},
      {"max([max([i * j for j in range(3)]) for i in range(4)])", whole(6)},
      {"len([i for i in range(9) if i % 2 == 0])", whole(5)},
      {"max([i for i in range(9) if i % 2 == 0 if i < 7])", whole(6)},
      {"len([i for i in range(9) if i > 9])", whole(0)},
      {"len([i for i in range(0) if i > 9] + [1])", whole(1)},
      {"max([i if i < 3 else 0 for i in [1, 2, 3] if i != 2])", whole(1)},
      {"max([max([j for j in range(i) if j != 2]) for i in range(1, 4) if i != 2])", whole(1)},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(value(text), expected) << text << " = " << print(value(text));
  const Expression names = Expression::parse("a * b + max(a, c)", "test");
  EXPECT_EQ(names.names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(names.scalar(std::vector<Operand>{whole(2), whole(3), whole(5)}), whole(11));
}

// Kernel Tuner's restrictions may be functions of a dictionary of all parameters.
TEST(ForeignExpression, LambdasAndTheModuleMathAreThoseOfPython) {
  const Expression lambda = Expression::parse("lambda p: p['a'] * p[\"b\"] + math.ceil(p['a'] / 2)", "here");
  EXPECT_EQ(lambda.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(lambda.scalar(std::vector<Operand>{whole(3), whole(5)}), whole(17));
  const Expression several = Expression::parse("lambda a, b: a - b", "here");
  EXPECT_EQ(several.scalar(std::vector<Operand>{whole(3), whole(5)}), whole(-2));
  EXPECT_EQ(Expression::parse("lambda > 1", "here").names(), (std::vector<std::string>{"lambda"})) << "a parameter";
  EXPECT_EQ(Expression::parse("lambda: math.sqrt(16)", "here").scalar({}), Scalar(4.0));
}

TEST(ForeignExpression, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "expected a value, found the end"},
      {"1 +", "expected a value, found the end"},
      {"lambda p.x: 1", "expected the names of a lambda's arguments and ':'"},
      {"lambda p: p[a]", "expected the name of a parameter in quotes"},
      {"lambda p: p['a'", "expected ']'"},
      {"math.a", "float, sqrt, log2, len, range), found 'a'"},
      {"math.math.ceil(a)", "float, sqrt, log2, len, range), found 'math.ceil(a)'"},
      {"(1", "expected ',' or ')', found the end"},
      {"1 2", "expected an operator or the end, found '2'"},
      {"a $ b", "expected an operator or the end, found '$ b'"},
      {"foo(1)", "expected a function (min"},
      {"1 / 0", "division by zero in '1 / 0'"},
      {"1 % 0", "division by zero"},
      {"'a' + 1", "expected a number, found 'a'"},
      {"'a' < 1", "expected values that can be compared"},
      {"[1, 2] + 1", "expected a single value, found a list"},
      {"9223372036854775807 + 1", "an integer does not fit in 64 bits"},
      {"2 ** 64", "an integer does not fit in 64 bits"},
      {"14695981039346656037", "expected an integer below 2^63, found '14695981039346656037'"},
      {"0xcbf29ce484222325", "expected an integer below 2^63, found '0xcbf29ce484222325'"},
      {"min([1, 2], 3)", "expected a single value, found a list"},
      {"1 in 1", "expected a list after in"},
      {"range(100000000)", "expected at most 65536 values"},
      {"1 if 2", "expected else"},
      {"[i for i in a]", "expected a list without parameters"},
      {"[i for i in 3]", "expected a list"},
      {"a + max([i for i in a])", "expected a list without parameters"},
      {"[i for i in range(3) if a]", "expected a condition without parameters"},
      {"a + max([i for i in range(3) if a])", "expected a condition without parameters"},
      {"[i for i in range(3) if [i]]", "test: expected a single value, found a list in"},
      {"[i for i in range(3) if 1 / i]", "test: division by zero in '[i for i in range(3) if 1 / i]'"},
      {"[i for i in range(3) if ]", "expected a value, found ']'"},
      {"[i for 3 in range(2)]", "expected NAME in LIST"},
      {"[i + for i in range(2)]", "expected for"},
      {"[[j for j in range(60000)][0] for i in range(60000)]", "expected at most 65536 values"},
      {"'abc", "expected a text with a closing quote"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_THAT([text = text] { value(text); }, ThrowsMessage<Error>(HasSubstr(message))) << text;
  EXPECT_THROW(value(std::string(10000, '(')), Error);
  EXPECT_THROW(value(std::string(10000, '-') + "1"), Error);
}

// Any text gives a value or an Error.
TEST(ForeignExpression, SurvivesAnyText) {
  Rng rng(5);
  constexpr std::string_view parts[] = {"1",
                                        "a",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        ",",
                                        "+",
                                        "-",
                                        "*",
                                        "/",
                                        "%",
                                        "<",
                                        "==",
                                        " and ",
                                        " or ",
                                        "not ",
                                        "in",
                                        "if",
                                        "else",
                                        "**",
                                        "//",
                                        "min(",
                                        "'",
                                        "0x",
                                        ".",
                                        "?",
                                        ":",
                                        "[a for b in range(2)]",
                                        " for ",
                                        "a in ",
                                        "[b for b in [1, 2] if "};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t n = rng.below(12); n > 0; --n) text += parts[rng.below(std::size(parts))];
    try {
      const Expression parsed = Expression::parse(text, "test");
      static_cast<void>(parsed.evaluate(std::vector<Operand>(parsed.names().size(), whole(2))));
    } catch (const Error&) {
    }
  }
}

std::vector<Expression> constraints(const std::vector<std::string>& texts) {
  std::vector<Expression> all;
  for (const std::string& text : texts) all.push_back(Expression::parse(text, "test"));
  return all;
}

Parameter parameter(const std::string& name, std::vector<std::int64_t> values, std::size_t fallback = 0) {
  return {name, {values.begin(), values.end()}, fallback};
}

std::set<std::string> configurations(const search::Space& space) {
  std::set<std::string> all;
  search::for_each_path(space, [&](const search::Path& path) {
    std::set<std::string> words;
    for (const Choice& choice : path.leaf->trail()) words.insert(choice.knob + "=" + deplo::print(choice.value));
    EXPECT_TRUE(all.insert(fmt::format("{}", fmt::join(words, " "))).second);
    return true;
  });
  return all;
}

/// Returns every combination that satisfies every constraint.
std::set<std::string> brute_force(const std::vector<Parameter>& parameters, const std::vector<Expression>& all) {
  std::set<std::string> legal;
  std::vector<std::size_t> at(parameters.size(), 0);
  for (;;) {
    const bool holds = std::ranges::all_of(all, [&](const Expression& constraint) {
      std::vector<Operand> values;
      for (const std::string& name : constraint.names()) {
        const auto i =
            static_cast<std::size_t>(std::ranges::find(parameters, name, &Parameter::name) - parameters.begin());
        values.emplace_back(parameters[i].values[at[i]]);
      }
      return is_true(constraint.scalar(values));
    });
    std::set<std::string> words;
    for (std::size_t i = 0; i < at.size(); ++i)
      words.insert(parameters[i].name + "=" + deplo::print(value_of(parameters[i].values[at[i]])));
    if (holds) legal.insert(fmt::format("{}", fmt::join(words, " ")));
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == parameters[i].values.size()) at[i++] = 0;
    if (i == at.size()) return legal;
  }
}

TEST(ForeignSpace, AgreesWithBruteForce) {
  constexpr std::string_view forms[] = {
      "{0} * {1} <= {3}",           "{0} % {1} == 0",          "{0} <= {1} + {2}", "{0} != {1}",
      "{0} * {1} * {2} <= 4 * {3}", "{0} == {1} or {2} > {3}", "{0} > {3} - 9"};
  int legal_spaces = 0;
  for (const std::uint64_t seed : drawn_seeds(400)) {
    Rng rng(seed);
    std::vector<Parameter> parameters;
    const std::size_t count = 1 + rng.below(6);
    for (std::size_t i = 0; i < count; ++i) {
      std::set<std::int64_t> values;
      for (std::uint64_t n = 1 + rng.below(5); n > 0; --n) values.insert(static_cast<std::int64_t>(1 + rng.below(16)));
      parameters.push_back(parameter(std::string(1, static_cast<char>('a' + i)), {values.begin(), values.end()}));
      parameters.back().fallback = rng.below(values.size());
    }
    std::vector<std::string> texts;
    for (std::uint64_t n = rng.below(5); n > 0; --n) {
      const auto name = [&] { return parameters[rng.below(count)].name; };
      texts.push_back(fmt::format(fmt::runtime(forms[rng.below(std::size(forms))]), name(), name(), name(),
                                  std::to_string(1 + rng.below(40))));
    }
    const std::set<std::string> expected = brute_force(parameters, constraints(texts));
    if (expected.empty()) {
      EXPECT_THAT([&] { ParameterSpace(parameters, constraints(texts), "test"); },
                  ThrowsMessage<Error>(HasSubstr("no configuration is legal")));
      continue;
    }
    ++legal_spaces;
    const ParameterSpace space(parameters, constraints(texts), "test");
    EXPECT_EQ(configurations(space), expected) << "seed " << seed << ": " << fmt::format("{}", fmt::join(texts, "; "));
    EXPECT_EQ(space.legal(), static_cast<double>(expected.size()));
    double leaves = 0;
    for (std::size_t i = 0; space.root()->fork() && i < space.root()->fork()->options.size(); ++i)
      leaves += space.root()->leaves(i);
    EXPECT_EQ(leaves, static_cast<double>(expected.size())) << "seed " << seed;
  }
  EXPECT_GT(legal_spaces, 150);
}

/// Writes random constraints with all kinds of values and operators.
class ConstraintWriter {
 public:
  ConstraintWriter(Rng& rng, std::size_t parameters) : rng_(rng), parameters_(parameters) {}

  /// Writes a constraint to `text`. Returns its conditions, which "and" or a chain of comparisons combines.
  std::vector<std::string> conditions(std::string& text) {
    if (rng_.below(5) == 0) {
      const std::string a = number(1), b = number(1), c = number(1), first = relation(), second = relation();
      text = fmt::format("{} {} {} {} {}", a, first, b, second, c);
      return {fmt::format("{} {} {}", a, first, b), fmt::format("{} {} {}", b, second, c)};
    }
    std::vector<std::string> all;
    for (std::uint64_t n = 1 + rng_.below(3); n > 0; --n) all.push_back("(" + condition(2) + ")");
    text = fmt::format("{}", fmt::join(all, rng_.below(2) == 0 ? " and " : " && "));
    return all;
  }

 private:
  template <std::size_t count>
  std::string pick(const char* const (&from)[count]) {
    return from[rng_.below(count)];
  }
  std::string name() { return std::string(1, static_cast<char>('a' + rng_.below(parameters_))); }
  std::string relation() { return pick({"<", "<=", ">", ">=", "==", "!="}); }

  std::string number(int depth) {
    if (depth == 0 || rng_.below(4) == 0) {
      if (rng_.below(3) > 0) return name();
      return pick({"0", "1", "2", "3", "5", "8", "12", "-1", "-4", "0.5", "2.5", "-1.5", "4611686018427387904",
                   "9007199254740993", "1e300", "'x'", "True"});
    }
    switch (rng_.below(10)) {
      case 0:
        return fmt::format("({} if {} else {})", number(depth - 1), condition(depth - 1), number(depth - 1));
      case 1:
        return fmt::format("{}({}, {})", pick({"min", "max"}), number(depth - 1), number(depth - 1));
      case 2:
        return fmt::format("{}({})", pick({"abs", "int", "round", "ceil", "floor", "float", "sqrt", "log2", "-", "~"}),
                           number(depth - 1));
      case 3:
        return fmt::format("({} {} {})", number(depth - 1), pick({"&", "|", "^", "<<", ">>", "**"}), number(depth - 1));
      case 4:
        return fmt::format("max([{}, {}])", number(depth - 1), number(depth - 1));
      case 5:
        return fmt::format("({} {} {})", number(depth - 1), pick({"or", "||"}), number(depth - 1));
      case 6:  // a condition that begins with a minus is not split at "and"
        return fmt::format("-({} {} {})", number(depth - 1), pick({"and", "&&"}), number(depth - 1));
      default:
        return fmt::format("({} {} {})", number(depth - 1), pick({"+", "-", "*", "/", "//", "%"}), number(depth - 1));
    }
  }

  std::string condition(int depth) {
    if (depth == 0) return fmt::format("{} {} {}", number(1), relation(), number(1));
    switch (rng_.below(8)) {
      case 0:
        return fmt::format("not ({} and {})", condition(depth - 1), condition(depth - 1));
      case 1:
        return fmt::format("({}) or ({})", condition(depth - 1), condition(depth - 1));
      case 2:
        return fmt::format("{} {} [{}, {}, 3]", number(depth - 1), pick({"in", "not in"}), number(depth - 1),
                           number(depth - 1));
      case 3:
        return number(depth);
      default:
        return fmt::format("{} {} {}", number(depth), relation(), number(depth));
    }
  }

  Rng& rng_;
  std::size_t parameters_;
};

std::vector<Parameter> random_parameters(Rng& rng) {
  const std::vector<Scalar> values[] = {
      {whole(1), whole(2), whole(3), whole(4), whole(8), whole(16)},
      {whole(-3), whole(-1), whole(0), whole(1), whole(2), whole(5)},
      {0.5, 1.0, whole(1), whole(2), -2.25, whole(7)},
      {whole(0), std::string("x"), std::string(), whole(2), 1.5},
      {std::nan(""), HUGE_VAL, whole(1), 2.0, whole(INT64_MIN), whole(INT64_MAX)},
  };
  const std::uint64_t weird = rng.below(8) == 0 ? std::size(values) : 3;  // most spaces have numbers only
  std::vector<Parameter> parameters;
  const std::uint64_t parameter_count = 2 + rng.below(3);
  for (std::uint64_t i = 0; i < parameter_count; ++i) {
    std::vector<Scalar> own;
    for (const Scalar& value : values[rng.below(weird)])
      if (own.empty() || rng.below(4) > 0) own.push_back(value);
    // 1 and 1.0 are different values, but the same word in a trail.
    std::set<std::string> words;
    std::erase_if(own, [&](const Scalar& value) { return !words.insert(deplo::print(value_of(value))).second; });
    parameters.push_back({std::string(1, static_cast<char>('a' + i)), own});
  }
  return parameters;
}

enum class Outcome { illegal, fails, legal };

/// Returns illegal if any condition is false, even if others cannot be evaluated.
Outcome outcome_of(const std::vector<Expression>& conditions, const std::vector<Parameter>& parameters,
                   const std::vector<std::size_t>& at) {
  Outcome outcome = Outcome::legal;
  for (const Expression& condition : conditions) {
    std::vector<Operand> values;
    for (const std::string& name : condition.names()) {
      const auto i = static_cast<std::size_t>(name[0] - 'a');
      values.emplace_back(parameters[i].values[at[i]]);
    }
    try {
      if (!is_true(condition.scalar(values))) return Outcome::illegal;
    } catch (const Error&) {
      outcome = Outcome::fails;
    }
  }
  return outcome;
}

// Bounds must not exclude legal configurations, even with texts, NaN, overflow and divisions by zero.
TEST(ForeignSpace, AgreesWithBruteForceForAnyConstraint) {
  int legal_spaces = 0, failing_spaces = 0;
  for (const std::uint64_t seed : drawn_seeds(1500)) {
    Rng rng(seed);
    const std::vector<Parameter> parameters = random_parameters(rng);
    ConstraintWriter writer(rng, parameters.size());
    std::vector<std::string> texts, condition_texts;
    for (std::uint64_t n = 1 + rng.below(3); n > 0; --n)
      std::ranges::move(writer.conditions(texts.emplace_back()), std::back_inserter(condition_texts));
    const std::vector<Expression> all = constraints(texts), conditions = constraints(condition_texts);

    std::set<std::string> expected;
    bool fails = false;
    std::vector<std::size_t> at(parameters.size(), 0);
    for (std::size_t i = 0; i < at.size();) {
      const Outcome outcome = outcome_of(conditions, parameters, at);
      fails = fails || outcome == Outcome::fails;
      std::set<std::string> words;
      for (std::size_t j = 0; j < at.size(); ++j)
        words.insert(parameters[j].name + "=" + deplo::print(value_of(parameters[j].values[at[j]])));
      if (outcome == Outcome::legal) expected.insert(fmt::format("{}", fmt::join(words, " ")));
      for (i = 0; i < at.size() && ++at[i] == parameters[i].values.size(); ++i) at[i] = 0;
    }

    const std::string place = fmt::format("seed {}: {}", seed, fmt::join(texts, "; "));
    if (fails || expected.empty()) {
      ++(fails ? failing_spaces : legal_spaces);
      EXPECT_THROW(ParameterSpace(parameters, all, "test"), Error) << place;
      continue;
    }
    ++legal_spaces;
    try {
      EXPECT_EQ(configurations(ParameterSpace(parameters, all, "test")), expected) << place;
    } catch (const Error& error) {
      ADD_FAILURE() << place << ": " << error.what();
    }
  }
  EXPECT_GT(legal_spaces, 400);
  EXPECT_GT(failing_spaces, 200);
}

TEST(ForeignSpace, TheDefaultsComeFirst) {
  const ParameterSpace space({parameter("a", {1, 2, 4}, 1), parameter("b", {8, 16}, 1), parameter("c", {3, 5}, 1)},
                             constraints({"a * b <= 32"}), "test");
  EXPECT_EQ(deplo::print(search::heuristic(space)->trail()), "a=2 b=16 c=5");
  EXPECT_EQ(space.configuration(*search::heuristic(space)), (std::vector<Scalar>{whole(2), whole(16), whole(5)}));
}

// Ten parameters of eight values have 1.07 * 10^9 configurations. Constraints leave about 10^5 of them.
TEST(ForeignSpace, ABillionConfigurationsOpenInASecond) {
  const std::vector<std::int64_t> powers = {1, 2, 4, 8, 16, 32, 64, 128};
  std::vector<Parameter> parameters;
  for (const char* name : {"MWG", "NWG", "KWG", "MDIMC", "NDIMC", "MDIMA", "NDIMB", "VWM", "VWN", "KWI"})
    parameters.push_back(parameter(name, powers));
  const auto start = std::chrono::steady_clock::now();
  const ParameterSpace space(
      parameters,
      constraints({"MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0",
                   "NWG % (NDIMB * VWN) == 0", "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
                   "KWG % ((MDIMC * NDIMC) / NDIMB) == 0", "MDIMC * NDIMC >= 64", "MDIMC * NDIMC <= 256", "MWG >= 32",
                   "NWG >= 32", "KWG % KWI == 0", "KWI <= 2", "KWG <= 32", "(MWG + NWG) * KWG <= 4096"}),
      "test");
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_GT(space.raw(), 1e9);
  EXPECT_GT(space.legal(), 1e4);
  EXPECT_LT(space.legal(), 1e6);
  RecordProperty("legal", std::to_string(space.legal()));
  RecordProperty("seconds", std::to_string(spent.count()));
  EXPECT_LT(spent.count(), 20);  // detects enumeration; this is not a benchmark
}

// Nine parameters of ten values, connected by one constraint that is complete only with the last parameter.
TEST(ForeignSpace, AWideConstraintIsNotEnumerated) {
  const struct {
    std::vector<std::string> constraints;
    double legal;
  } spaces[] = {
      {{"P0 + P1 + P2 + P3 + P4 + P5 + P6 + P7 + P8 == 20"}, 75501},
      {{"P0*P1*P2 == P3*P4*P5 and P6 == P7", "P5*P6 <= P8*P0"}, 650530},
      {{"P0*P1*P2*P3*P4*P5*P6*P7*P8 <= 60"}, 20212},
      {{"(P0 + 3*P1 + 5*P2 + 7*P3 + 9*P4 + 11*P5 + 13*P6 + 15*P7 + 17*P8) % 1009 == 800"}, 9},
  };
  std::vector<Parameter> parameters;
  for (int i = 0; i < 9; ++i) parameters.push_back(parameter(fmt::format("P{}", i), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  const auto start = std::chrono::steady_clock::now();
  for (const auto& [texts, legal] : spaces)
    EXPECT_EQ(ParameterSpace(parameters, constraints(texts), "test").legal(), legal) << texts.front();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(spent.count(), 20);  // detects enumeration; this is not a benchmark
}

TEST(ForeignSpace, IndependentGroupsAreNotMultiplied) {
  std::vector<Parameter> parameters;
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) {
    parameters.push_back(parameter(fmt::format("p{}", i), {1, 2, 3, 4, 5, 6, 7, 8}));
    if (i % 2 == 1) texts.push_back(fmt::format("p{} <= p{}", i - 1, i));
  }
  const ParameterSpace space(parameters, constraints(texts), "test");
  EXPECT_EQ(space.groups().size(), 20u);
  EXPECT_DOUBLE_EQ(space.legal(), std::pow(36, 20));
  EXPECT_EQ(search::heuristic(space)->trail().size(), 40u);
}

TEST(ForeignSpace, FindsAConfigurationByTheValuesThatAreNamed) {
  const ParameterSpace space({parameter("a", {1, 2, 4}, 1), parameter("b", {8, 16}, 1),
                              Parameter{"o", {std::string(), std::string("-a,-b x"), std::string("-Dk=1")}}},
                             constraints({"a * b <= 32"}), "test");
  const auto found = [&](const std::string& text) {
    return deplo::print(space.candidate(parse_configuration(text, "here"), "here")->trail());
  };
  EXPECT_EQ(found(""), "a=2 b=16 o=%");
  EXPECT_EQ(found("b=8,a=4"), "a=4 b=8 o=%");
  EXPECT_EQ(found("o=-a,-b%20x,a=1"), "a=1 b=16 o=-a,-b%20x") << "a comma of a value";
  EXPECT_EQ(found("o=-Dk=1"), "a=2 b=16 o=-Dk=1");
  EXPECT_EQ(found("o= b=8"), "a=2 b=8 o=%") << "a trail";
  const auto fault = [&](const std::string& text) { return [&found, text] { found(text); }; };
  EXPECT_THAT(fault("c=1"), ThrowsMessage<Error>("here: expected a parameter (a, b, o), found 'c'"));
  EXPECT_THAT(fault("a=3"), ThrowsMessage<Error>("here: expected a value of a (1, 2, 4), found '3'"));
  EXPECT_THAT(fault("a=1,a=1"), ThrowsMessage<Error>("here: expected each parameter once, found a again"));
  EXPECT_EQ(found("a=4"), "a=4 b=8 o=%") << "with the default of b it is not legal";
  EXPECT_EQ(space.replaced_defaults(parse_trail("a=4"), "here"),
            "the defaults are not legal ('a * b <= 32' is not true): b=8 instead of 16");
  EXPECT_EQ(space.replaced_defaults(parse_trail("a=4 b=8"), "here"), "");
  EXPECT_THAT(fault("a=4,b=16"),
              ThrowsMessage<Error>("here: expected a legal configuration, found a=4 b=16: 'a * b <= 32' is not true"));
  EXPECT_THAT(fault("a"), ThrowsMessage<Error>("here: expected NAME=VALUE,…, found 'a'"));
  EXPECT_EQ(deplo::print(space.find(parse_trail("o=% b=8 a=4"))->trail()), "a=4 b=8 o=%");
  EXPECT_EQ(space.find(parse_trail("a=4 b=8")), nullptr);
  EXPECT_EQ(space.find(parse_trail("a=4 b=16 o=%")), nullptr);
}

// Such defaults are replaced by the configuration of search::heuristic(), with which `deplo tune` begins.
TEST(ForeignSpace, DefaultsThatAreNotLegalAreReplaced) {
  const ParameterSpace space({parameter("a", {1, 2, 4}, 2), parameter("b", {8, 16, 32}, 2), parameter("c", {3, 5}, 1),
                              parameter("d", {1, 2, 3}, 2), parameter("e", {1, 2})},
                             constraints({"a * b <= 32", "d < e"}), "test");
  const search::PositionPtr found = space.candidate({}, "here");
  EXPECT_EQ(deplo::print(found->trail()), "a=4 b=8 c=5 d=1 e=2");
  EXPECT_EQ(deplo::print(search::heuristic(space)->trail()), deplo::print(found->trail()));
  EXPECT_EQ(
      space.replaced_defaults({}, "here"),
      "the defaults are not legal ('a * b <= 32' is not true): b=8 instead of 32, d=1 instead of 3, e=2 instead of 1");
  EXPECT_EQ(deplo::print(space.candidate(parse_trail("b=16"), "here")->trail()), "a=1 b=16 c=5 d=1 e=2");
  EXPECT_THAT([&] { space.candidate(parse_trail("d=2"), "here"); },
              ThrowsMessage<Error>("here: expected a legal configuration, found d=2: no values of the other parameters "
                                   "make it legal"));
}

TEST(ForeignSpace, DefaultsThatDivideByZeroAreReplaced) {
  const ParameterSpace space({parameter("a", {0, 1, 2})}, constraints({"2 // a and a > 0"}), "test");
  EXPECT_EQ(space.replaced_defaults({}, "here"),
            "the defaults are not legal ('2 // a and a > 0' is not true): a=1 instead of 0");
}

TEST(ForeignSpace, SaysThatADivisionIsNotThatOfC) {
  const auto notes = [](const std::string& text) {
    return ParameterSpace({parameter("a", {1, 2})}, constraints({text}), "test").notes();
  };
  EXPECT_THAT(notes("(a == 1) ? a / 2 < 1 : 1"),
              ::testing::ElementsAre("'(a == 1) ? a / 2 < 1 : 1': / gives a fraction, as in Python; // rounds down, as "
                                     "/ does in C"));
  EXPECT_EQ(notes("a / 2 < 1 && a < 2").size(), 1u);
  EXPECT_TRUE(notes("a / 2 < 1 and a < 2").empty()) << "Python's operators";
  EXPECT_TRUE(notes("a // 2 < 1 && a < 2").empty());
}

TEST(ForeignSpace, SaysWhatIsWrong) {
  const auto fault = [](const std::vector<std::string>& texts) {
    return [texts] { ParameterSpace({parameter("width", {1, 2})}, constraints(texts), "conv.json"); };
  };
  EXPECT_THAT(fault({"widht > 1"}),
              ThrowsMessage<Error>("test: expected a parameter, found 'widht' in the constraint 'widht > 1'; did "
                                   "you mean 'width'?"));
  EXPECT_THAT(fault({"width > 3"}), ThrowsMessage<Error>(HasSubstr("conv.json: no configuration is legal")));
  EXPECT_THAT(fault({"width / (width - 1) > 0"}), ThrowsMessage<Error>(HasSubstr("division by zero")));
  EXPECT_EQ(
      ParameterSpace({parameter("width", {1, 2})}, constraints({"width / (width - 1) > 0", "width > 1"}), "t").legal(),
      1)
      << "another constraint forbids the division by zero";
}

}  // namespace
}  // namespace deplo::engine::foreign
