// Each operation of tile programs, for each type that it takes, lowered block by block. Compares the results for
// awkward numbers with the interpreter's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "measure/tile_program/both.h"

namespace deplo::measure {
namespace {

namespace tp = ir::tile_program;
using ir::DType;

constexpr std::int64_t count = 64;
constexpr std::array<std::int64_t, 3> grid = {2, 1, 1};

/// The array of an operand.
struct Operand {
  ir::DType element = ir::DType::f32;
  std::vector<double> values = {};  // the first elements; the others are random
};

double lowest(int width) { return width == 1 ? 0 : -std::ldexp(1, width - 1); }
double highest(int width) { return width == 1 ? 1 : width == 64 ? 0x1.FFFFFFFFFFFFFp62 : std::ldexp(1, width - 1) - 1; }

/// Returns numbers with which arithmetic of this type easily goes wrong.
std::vector<double> awkward(ir::DType e) {
  if (ir::is_integral(e)) {
    const int w = ir::width(e);
    return {0, 1, highest(w), lowest(w), lowest(w) + 1, w == 1 ? 1 : -1.0, w == 1 ? 0.0 : 7.0, w == 1 ? 1.0 : -7.0};
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double least = ir::decode_float(1, e), largest = ir::decode_float(ir::encode_float(infinity, e) - 1, e);
  return {0.0,     -0.0,     1,   -1,  infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), least, -least,
          largest, -largest, 0.5, 1.5, 2.5,      3};
}
/// Returns up to 64 pairs of these numbers.
std::pair<std::vector<double>, std::vector<double>> pairs(const std::vector<double>& all) {
  std::pair<std::vector<double>, std::vector<double>> made;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < all.size() && made.first.size() < count; j += 1 + i % 3) {
      made.first.push_back(all[i]);
      made.second.push_back(all[j]);
    }
  return made;
}

/// A program with two blocks, whose operations have operands %a, %b … of 64 elements each. The body of each operation
/// sets %r, which is stored in an array of its own.
class Battery {
 public:
  explicit Battery(std::vector<Operand> operands) : operands_(std::move(operands)) {}

  void add(const std::string& body, ir::DType result) {
    std::string text;
    for (std::size_t i = 0; i < body.size(); ++i) {
      text += body[i];
      const bool is_result = body.compare(i, 2, "%r") == 0 && (body[i + 2] == ' ' || body[i + 2] == '\n');
      if (is_result) text += fmt::format("r{}", results_.size()), ++i;
    }
    body_ += text + "\n";
    results_.push_back(result);
  }

  void expect_equal(double relative = 0, double ulps = 0) const { launched().expect_equal(grid, relative, ulps); }
  std::string source(std::string_view target) const { return launched().source(target); }

 private:
  Both launched() const {
    std::string parameters, loads, stores;
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      const std::string name(1, static_cast<char>('a' + n));
      const std::string_view element = ir::tile_name(operands_[n].element);
      parameters += fmt::format("{}%{}_base: tile<ptr<{}>>", n == 0 ? "" : ", ", name, element);
      loads += pointers(name, element) +
               fmt::format("%{0}, %{0}_token = load_ptr_tko weak %{0}_at : tile<64xptr<{1}>> -> tile<64x{1}>, token\n",
                           name, element);
    }
    for (std::size_t n = 0; n < results_.size(); ++n) {
      const std::string name = fmt::format("r{}", n);
      const std::string_view element = ir::tile_name(results_[n]);
      parameters += fmt::format(", %{}_base: tile<ptr<{}>>", name, element);
      stores +=
          pointers(name, element) +
          fmt::format("%{0}_token = store_ptr_tko weak %{0}_at, %{0} : tile<64xptr<{1}>>, tile<64x{1}> -> token\n",
                      name, element);
    }
    Both both(tp::read_program(fmt::format("entry @f({}) {{\n{}{}{}{}}}", parameters, places, loads, body_, stores),
                               "battery"));
    both.threads = {1, 32};
    both.draws = false;  // one operation leaves little to decide
    both.launcher.launch.grid = grid;
    both.architectures = {"sm_90"};
    for (const Operand& operand : operands_) {
      both.launcher.add_pointer("operand", operand.element, 2 * count);
      for (std::size_t k = 0; k < operand.values.size(); ++k)
        both.launcher.arrays.back().set(static_cast<std::int64_t>(k), operand.values[k]);
    }
    for (std::size_t n = 0; n < results_.size(); ++n)
      both.launcher.add_pointer(fmt::format("result {}", n), results_[n], 2 * count);
    return both;
  }

  static constexpr const char* places =
      "%w_x, %w_y, %w_z = get_tile_block_id : tile<i32>\n%w_k = constant <i32: 64> : tile<i32>\n%w_s = muli %w_x, %w_k "
      ": "
      "tile<i32>\n%w_1 = reshape %w_s : tile<i32> -> tile<1xi32>\n%w_n = broadcast %w_1 : tile<1xi32> -> tile<64xi32>\n"
      "%w_0 = iota : tile<64xi32>\n%w_i = addi %w_0, %w_n : tile<64xi32>\n";
  static std::string pointers(const std::string& name, std::string_view element) {
    return fmt::format(
        "%{0}_1 = reshape %{0}_base : tile<ptr<{1}>> -> tile<1xptr<{1}>>\n"
        "%{0}_all = broadcast %{0}_1 : tile<1xptr<{1}>> -> tile<64xptr<{1}>>\n"
        "%{0}_at = offset %{0}_all, %w_i : tile<64xptr<{1}>>, tile<64xi32> -> tile<64xptr<{1}>>\n",
        name, element);
  }

  std::vector<Operand> operands_;
  std::vector<ir::DType> results_;
  std::string body_;
};

void check(std::vector<Operand> operands, const std::string& body, ir::DType result, double relative = 0,
           double ulps = 0) {
  Battery battery(std::move(operands));
  battery.add(body, result);
  battery.expect_equal(relative, ulps);
}

constexpr std::array floats = {ir::DType::f16, ir::DType::bf16, ir::DType::f32, ir::DType::f64};
constexpr std::array integers = {ir::DType::boolean, ir::DType::i8, ir::DType::i16, ir::DType::i32, ir::DType::i64};

std::string of_type(std::string_view text, ir::DType e) {
  return fmt::format(fmt::runtime(text), fmt::arg("t", fmt::format("tile<64x{}>", ir::tile_name(e))));
}

std::vector<std::string> comparisons() {
  return {"equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"};
}

TEST(BlocksBattery, FloatsExactly) {
  for (const ir::DType e : floats) {
    const auto [x, y] = pairs(awkward(e));
    Battery battery({{e, x}, {e, y}});
    for (const char* text :
         {"addf %a, %b : {t}", "subf %a, %b : {t}", "mulf %a, %b : {t}", "divf %a, %b : {t}", "maxf %a, %b : {t}",
          "minf %a, %b : {t}", "maxf %a, %b propagate_nan : {t}", "minf %a, %b propagate_nan : {t}",
          "remf %a, %b : {t}", "absf %a : {t}", "negf %a : {t}", "floor %a : {t}", "ceil %a : {t}", "sqrt %a : {t}"})
      battery.add("%r = " + of_type(text, e), e);
    for (const std::string& predicate : comparisons())
      for (const char* ordering : {"ordered", "unordered"})
        battery.add(
            fmt::format("%r = cmpf {} {} %a, %b : tile<64x{}> -> tile<64xi1>", predicate, ordering, ir::tile_name(e)),
            ir::DType::boolean);
    battery.expect_equal();
    check({{e, x}, {e, y}, {e, {1, -1, 0.5}}}, "%r = " + of_type("fma %a, %b, %c : {t}", e), e, 0, 1);
  }
  const ir::DType e = ir::DType::f32;
  Battery battery({{e, {0x1p-100, 0x1p-140, -0x1p-140}}, {e, {0x1p-40, 0x1p-149, 0}}});
  for (const char* text :
       {"mulf %a, %b flush_to_zero : {t}", "addf %a, %b flush_to_zero : {t}", "maxf %a, %b flush_to_zero : {t}"})
    battery.add("%r = " + of_type(text, e), e);
  battery.expect_equal();
}

TEST(BlocksBattery, FunctionsOfFloats) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const ir::DType e : floats) {
    Battery battery({{e, {0, 1, -1, 0.5, 3, infinity, std::numeric_limits<double>::quiet_NaN()}}});
    for (const char* name : {"cos", "cosh", "exp", "exp2", "log", "log2", "rsqrt", "sin", "sinh", "tan", "tanh"})
      battery.add(fmt::format("%r = {} %a : tile<64x{}>", name, ir::tile_name(e)), e);
    battery.expect_equal(0, 5);
    Battery two({{e, {2, 0.5, 3, 1}}, {e, {3, -1, 0.5, -1}}});
    for (const char* name : {"pow", "atan2"})
      two.add(fmt::format("%r = {} %a, %b : tile<64x{}>", name, ir::tile_name(e)), e);
    two.expect_equal(0, 16);
    Battery whole({{e, {2, 0.5, -3, 1, -1, 0}}, {ir::DType::i32, {3, -1, 5, -7, 16777217, 0}}});
    whole.add(fmt::format("%r = fpowi %a, %b : tile<64x{}>, tile<64xi32>", ir::tile_name(e)), e);
    whole.expect_equal(0, 16);
  }
}

TEST(BlocksBattery, SquaresAreProducts) {
  for (const ir::DType e : floats) {
    Battery battery({{e, awkward(e)}});
    const std::string_view element = ir::tile_name(e);
    battery.add(fmt::format("%two = constant <{0}: 2.0> : tile<64x{0}>\n%r = pow %a, %two : tile<64x{0}>", element), e);
    battery.add(fmt::format("%one = constant <{0}: 2.0> : tile<{0}>\n%row = reshape %one : tile<{0}> -> tile<1x{0}>\n"
                            "%all = broadcast %row : tile<1x{0}> -> tile<64x{0}>\n%r = pow %a, %all : tile<64x{0}>",
                            element),
                e);
    battery.expect_equal(0, e == ir::DType::f64 ? 1 : 0);
    EXPECT_THAT(battery.source("opencl-cpu"), ::testing::Not(::testing::HasSubstr("pow("))) << element;
  }
  Battery cubes({{ir::DType::f32, {}}});
  cubes.add("%three = constant <f32: 3.0> : tile<64xf32>\n%r = pow %a, %three : tile<64xf32>", ir::DType::f32);
  EXPECT_THAT(cubes.source("opencl-cpu"), ::testing::HasSubstr("pow("));
}

TEST(BlocksBattery, Integers) {
  for (const ir::DType e : integers) {
    const auto [x, y] = pairs(awkward(e));
    Battery battery({{e, x}, {e, y}});
    for (const char* text :
         {"addi %a, %b : {t}", "subi %a, %b : {t}", "muli %a, %b : {t}", "mulhii %a, %b : {t}", "andi %a, %b : {t}",
          "ori %a, %b : {t}", "xori %a, %b : {t}", "maxi %a, %b signed : {t}", "maxi %a, %b unsigned : {t}",
          "mini %a, %b signed : {t}", "mini %a, %b unsigned : {t}", "absi %a : {t}", "negi %a : {t}"})
      battery.add("%r = " + of_type(text, e), e);
    for (const std::string& predicate : comparisons())
      for (const char* sign : {"signed", "unsigned"})
        battery.add(
            fmt::format("%r = cmpi {} %a, %b, {} : tile<64x{}> -> tile<64xi1>", predicate, sign, ir::tile_name(e)),
            ir::DType::boolean);
    battery.expect_equal();
    if (e == ir::DType::boolean) continue;  // shifts and quotients of one bit are undefined
    std::vector<double> small(2 * count, 3), odd(2 * count, -3);
    for (std::size_t k = 0; k < small.size(); k += 2) odd[k] = static_cast<double>(k % 5 + 1);
    Battery others({{e, awkward(e)}, {e, small}, {e, odd}});
    for (const char* text :
         {"shli %a, %b : {t}", "shri %a, %b signed : {t}", "shri %a, %b unsigned : {t}", "divi %a, %c signed : {t}",
          "divi %a, %c unsigned : {t}", "divi %a, %c signed rounding<negative_inf> : {t}",
          "divi %a, %c signed rounding<positive_inf> : {t}", "divi %a, %c unsigned rounding<positive_inf> : {t}",
          "remi %a, %c signed : {t}", "remi %a, %c unsigned : {t}"})
      others.add("%r = " + of_type(text, e), e);
    others.expect_equal();
  }
}

std::string conversion(std::string_view operation, ir::DType from, ir::DType to, std::string_view words = "") {
  return fmt::format("%r = {} %a {} : tile<64x{}> -> tile<64x{}>", operation, words, ir::tile_name(from),
                     ir::tile_name(to));
}

TEST(BlocksBattery, ConversionsOfIntegers) {
  for (const ir::DType from : integers) {
    std::vector<double> values = awkward(from);
    if (ir::width(from) >= 32)
      values.insert(values.end(), {16777217, 16777219, 65519, 65520, 2147483583, -2147483647, 33554435});
    Battery battery({{from, values}});
    for (const ir::DType to : integers) {
      for (const char* sign : {"signed", "unsigned"})
        if (ir::width(from) < ir::width(to)) battery.add(conversion("exti", from, to, sign), to);
      if (ir::width(from) > ir::width(to)) battery.add(conversion("trunci", from, to), to);
    }
    for (const ir::DType to : {ir::DType::f16, ir::DType::bf16, ir::DType::f32, ir::DType::f64, ir::DType::f8e4m3fn})
      for (const char* sign : {"signed", "unsigned"}) battery.add(conversion("itof", from, to, sign), to);
    for (const char* mode : {"zero", "negative_inf", "positive_inf"})
      for (const ir::DType to : {ir::DType::f32, ir::DType::f64})
        battery.add(conversion("itof", from, to, fmt::format("signed rounding<{}>", mode)), to);
    battery.expect_equal();
  }
  for (const ir::DType from : floats) {
    Battery battery({{from, {0.5, -0.5, 1.75, -2.75, 100, -100}}});
    for (const ir::DType to : {ir::DType::i8, ir::DType::i16, ir::DType::i32, ir::DType::i64})
      battery.add(conversion("ftoi", from, to, "signed"), to);
    battery.expect_equal();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Battery beyond(
        {{from, {0.5, -0.5, 300, -300, 65504, -65504, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}}});
    for (const ir::DType to : {ir::DType::i8, ir::DType::i16, ir::DType::i32, ir::DType::i64})
      for (const char* sign : {"signed", "unsigned"})
        beyond.add(conversion("ftoi", from, to, std::string(sign) + " saturating"), to);
    beyond.expect_equal();
  }
}

TEST(BlocksBattery, ConversionsOfFloats) {
  constexpr std::array all = {ir::DType::f16,      ir::DType::bf16,   ir::DType::f32,      ir::DType::f64,
                              ir::DType::f8e4m3fn, ir::DType::f8e5m2, ir::DType::f8e8m0fnu};
  for (const ir::DType from : all) {
    std::vector<double> values = {1, 2, 0.25, 0x1p127, 0x1p-127};
    if (from != ir::DType::f8e8m0fnu) {
      values = awkward(from);
      values.insert(values.end(), {448, 464, 480, 57344, 61440, 65504, 65519.99, 65520, 1.0625, 1.09375, 0.0009765625,
                                   0x1.001p0, 0x1.00100001p0, 0x1.003p0, 0x1p-10, 0x1.8p-10, 0x1p-17});
    }
    for (double& v : values) v = ir::round_to(v, from);
    Battery battery({{from, values}});
    for (const ir::DType to : all) {
      if (from == to) continue;
      if (to != ir::DType::f8e8m0fnu)
        battery.add(conversion("ftof", from, to), to);
      else
        for (const char* mode : {"rounding<zero>", "rounding<positive_inf>"})
          battery.add(conversion("ftof", from, to, mode), to);
    }
    battery.expect_equal();
  }
  check({{ir::DType::f32, awkward(ir::DType::f32)}},
        "%q = ftof %a : tile<64xf32> -> tile<64xtf32>\n%r = ftof %q : tile<64xtf32> -> tile<64xf32>", ir::DType::f32);
  check({{ir::DType::f32, {0.25, 0.3, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 5.5, 100, -100, -0.2}}},
        "%q = ftof %a : tile<64xf32> -> tile<64xf4E2M1FN>\n%p = pack %q : tile<64xf4E2M1FN> -> tile<32xi8>\n%u = "
        "unpack %p : tile<32xi8> -> tile<64xf4E2M1FN>\n%r = ftof %u : tile<64xf4E2M1FN> -> tile<64xf32>",
        ir::DType::f32);
}

TEST(BlocksBattery, Bits) {
  for (const auto& [from, to] :
       {std::pair(ir::DType::f32, ir::DType::i32), std::pair(ir::DType::f64, ir::DType::i64),
        std::pair(ir::DType::bf16, ir::DType::i16), std::pair(ir::DType::f8e4m3fn, ir::DType::i8)}) {
    Battery battery({{from, {0, -0.0, 1, -1.5, 3}}});
    battery.add(conversion("bitcast", from, to), to);
    battery.expect_equal();
    check({{to, {}}}, conversion("bitcast", to, from), from);
  }
  for (const ir::DType e : {ir::DType::f16, ir::DType::f64, ir::DType::i32})
    check({{e, {1, 2, -3}}},
          fmt::format("%p = pack %a : tile<64x{0}> -> tile<{1}xi8>\n%r = unpack %p : tile<{1}xi8> -> tile<64x{0}>",
                      ir::tile_name(e), 64 * ir::width(e) / 8),
          e);
}

TEST(BlocksBattery, Shapes) {
  const Operand a = {ir::DType::f32, {}}, b = {ir::DType::f32, {}};
  const std::string cube = "%m = reshape %a : tile<64xf32> -> tile<2x4x8xf32>\n";
  for (const char* map : {"[0, 2, 1]", "[2, 1, 0]", "[1, 2, 0]"}) {
    std::string shape;
    for (const char c : std::string(map))
      if (c >= '0' && c <= '2') shape += fmt::format("{}x", std::array{2, 4, 8}[static_cast<std::size_t>(c - '0')]);
    check({a},
          cube + fmt::format("%p = permute %m {0} : tile<2x4x8xf32> -> tile<{1}f32>\n%r = reshape %p : tile<{1}f32> "
                             "-> tile<64xf32>",
                             map, shape),
          ir::DType::f32);
  }
  check({a, b},
        "%c = cat %a, %b dim = 0 : tile<64xf32>, tile<64xf32> -> tile<128xf32>\n%n = constant <i32: 1> : tile<i32>\n%m "
        "= reshape %c : tile<128xf32> -> tile<2x64xf32>\n%t = permute %m [1, 0] : tile<2x64xf32> -> tile<64x2xf32>\n%o "
        "= constant <i32: 0> : tile<i32>\n%e = extract %t[%o, %n] : tile<64x2xf32> -> tile<64x1xf32>\n%r = reshape %e "
        ": tile<64x1xf32> -> tile<64xf32>",
        ir::DType::f32);
  check({a, b},
        "%m = reshape %a : tile<64xf32> -> tile<8x8xf32>\n%z = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> "
        ": tile<i32>\n%l = extract %m[%z, %z] : tile<8x8xf32> -> tile<8x1xf32>\n%h = extract %m[%z, %one] : "
        "tile<8x8xf32> "
        "-> tile<8x1xf32>\n%c = cat %l, %h dim = 1 : tile<8x1xf32>, tile<8x1xf32> -> tile<8x2xf32>\n%v = reshape %c : "
        "tile<8x2xf32> -> tile<8x2x1xf32>\n%w = broadcast %v : tile<8x2x1xf32> -> tile<8x2x4xf32>\n%r = reshape %w : "
        "tile<8x2x4xf32> -> tile<64xf32>",
        ir::DType::f32);
  check({a, b, {ir::DType::boolean, {}}},
        "%e = exp %a : tile<64xf32>\n%s = select %c, %e, %b : tile<64xi1>, tile<64xf32>\n%r = select %c, %s, %e : "
        "tile<64xi1>, tile<64xf32>",
        ir::DType::f32, 0, 4);
  check(
      {a},
      "%t = constant <f32: [1.0, -2.0, 0.5, 4.0]> : tile<4xf32>\n%u = reshape %t : tile<4xf32> -> tile<1x4xf32>\n%v = "
      "broadcast %u : tile<1x4xf32> -> tile<16x4xf32>\n%w = reshape %v : tile<16x4xf32> -> tile<64xf32>\n%r = mulf %a, "
      "%w : tile<64xf32>",
      ir::DType::f32);
}

TEST(BlocksBattery, ReductionsAndScans) {
  const std::string sum = "(%p: tile<f32>, %q: tile<f32>) {\n%u = addf %p, %q : tile<f32>\nyield %u : tile<f32>\n}\n";
  for (int dim = 0; dim < 3; ++dim) {
    const std::string shape = dim == 0 ? "4x8" : dim == 1 ? "2x8" : "2x4";
    const std::string one = dim == 0 ? "1x4x8" : dim == 1 ? "2x1x8" : "2x4x1";
    const std::string cube = "%m = reshape %a : tile<64xf32> -> tile<2x4x8xf32>\n";
    check(
        {{ir::DType::f32, {}}},
        cube + fmt::format("%d = reduce %m dim={0} identities=[0.0 : f32] : tile<2x4x8xf32> -> tile<{1}xf32>\n{2}%e = "
                           "reshape %d : tile<{1}xf32> -> tile<{3}xf32>\n%g = broadcast %e : tile<{3}xf32> -> "
                           "tile<2x4x8xf32>\n%h = addf %m, %g : tile<2x4x8xf32>\n%r = reshape %h : tile<2x4x8xf32> -> "
                           "tile<64xf32>",
                           dim, shape, sum, one),
        ir::DType::f32);
    for (const char* reverse : {"false", "true"})
      check({{ir::DType::f32, {}}},
            cube + fmt::format("%d = scan %m dim={} reverse={} identities=[0.5 : f32] : tile<2x4x8xf32> -> "
                               "tile<2x4x8xf32>\n{}%r = reshape %d : tile<2x4x8xf32> -> tile<64xf32>",
                               dim, reverse, sum),
            ir::DType::f32);
  }
  // The greatest element and its position: a body with branches and two results.
  check(
      {{ir::DType::f16, {3, 9, -4, 9}}},
      "%n = iota : tile<64xi16>\n%m, %at = reduce %a, %n dim=0 identities=[-1.0 : f16, 0 : i16] : tile<64xf16>, "
      "tile<64xi16> -> tile<f16>, tile<i16>\n(%p: tile<f16>, %best: tile<f16>, %pi: tile<i16>, %bi: tile<i16>) "
      "{\n%c = cmpf greater_than ordered %p, %best : tile<f16> -> tile<i1>\n%v, %vi = if %c -> (tile<f16>, tile<i16>) "
      "{\nyield %p, %pi : tile<f16>, tile<i16>\n} else {\nyield %best, %bi : tile<f16>, tile<i16>\n}\nyield %v, %vi : "
      "tile<f16>, tile<i16>\n}\n%w = reshape %at : tile<i16> -> tile<1xi16>\n%y1 = broadcast %w : tile<1xi16> -> "
      "tile<64xi16>\n%r = itof %y1 signed : tile<64xi16> -> tile<64xf16>",
      ir::DType::f16);
}

TEST(BlocksBattery, Products) {
  for (const auto& [factors, sums] :
       {std::pair(ir::DType::f16, ir::DType::f32), std::pair(ir::DType::f16, ir::DType::f16),
        std::pair(ir::DType::bf16, ir::DType::f32), std::pair(ir::DType::f32, ir::DType::f32),
        std::pair(ir::DType::f64, ir::DType::f64), std::pair(ir::DType::f8e4m3fn, ir::DType::f32)})
    check({{factors, {}}, {factors, {}}, {sums, {}}},
          fmt::format("%l = reshape %a : tile<64x{0}> -> tile<2x4x8x{0}>\n%h = reshape %b : tile<64x{0}> -> "
                      "tile<2x8x4x{0}>\n%o = constant <{1}: 0.5> : tile<2x4x4x{1}>\n%m = mmaf %l, %h, %o : "
                      "tile<2x4x8x{0}>, tile<2x8x4x{0}>, tile<2x4x4x{1}>\n%v = reshape %m : tile<2x4x4x{1}> -> "
                      "tile<32x1x{1}>\n%w = broadcast %v : tile<32x1x{1}> -> tile<32x2x{1}>\n%r = reshape %w : "
                      "tile<32x2x{1}> -> tile<64x{1}>",
                      ir::tile_name(factors), ir::tile_name(sums)),
          sums, sums == ir::DType::f16 ? 2e-3 : 1e-6);
  for (const char* signs : {"signed signed", "unsigned signed", "unsigned unsigned"})
    check({{ir::DType::i8, awkward(ir::DType::i8)}, {ir::DType::i8, {-5, 100}}, {ir::DType::i32, {}}},
          fmt::format(
              "%l = reshape %a : tile<64xi8> -> tile<8x8xi8>\n%h = reshape %b : tile<64xi8> -> tile<8x8xi8>\n%o = "
              "reshape %c : tile<64xi32> -> tile<8x8xi32>\n%m = mmai %l, %h, %o {} : tile<8x8xi8>, tile<8x8xi8>, "
              "tile<8x8xi32>\n%r = reshape %m : tile<8x8xi32> -> tile<64xi32>",
              signs),
          ir::DType::i32);
  check(
      {{ir::DType::f8e5m2, {}}, {ir::DType::f8e5m2, {}}, {ir::DType::f32, {}}},
      "%l = reshape %a : tile<64xf8E5M2> -> tile<8x8xf8E5M2>\n%h = reshape %b : tile<64xf8E5M2> -> "
      "tile<8x8xf8E5M2>\n%o = reshape %c : tile<64xf32> -> tile<8x8xf32>\n%sa = constant <f8E8M0FNU: 2.0> : "
      "tile<8x2xf8E8M0FNU>\n%sb = constant <f8E8M0FNU: 0.5> : tile<2x8xf8E8M0FNU>\n%m = mmaf_scaled %l, %h, %o, %sa, "
      "%sb "
      ": tile<8x8xf8E5M2>, tile<8x8xf8E5M2>, tile<8x8xf32>, tile<8x2xf8E8M0FNU>, tile<2x8xf8E8M0FNU>\n%r = reshape %m "
      ": tile<8x8xf32> -> tile<64xf32>",
      ir::DType::f32, 1e-6);
}

TEST(BlocksBattery, Atomics) {
  // All elements of all blocks change four places, in any order. Four elements of each block are masked off.
  for (const ir::DType e : {ir::DType::i32, ir::DType::i64})
    for (const char* mode : {"and", "or", "xor", "add", "max", "min", "umax", "umin"}) {
      const std::string text = fmt::format(
          "entry @f(%a_base: tile<ptr<{0}>>, %r_base: tile<ptr<{0}>>) {{\n%i = iota : tile<64xi32>\n%a1 = reshape "
          "%a_base : "
          "tile<ptr<{0}>> -> tile<1xptr<{0}>>\n%an = broadcast %a1 : tile<1xptr<{0}>> -> tile<64xptr<{0}>>\n%at = "
          "offset "
          "%an, %i : tile<64xptr<{0}>>, tile<64xi32> -> tile<64xptr<{0}>>\n%a, %t = load_ptr_tko weak %at : "
          "tile<64xptr<{0}>> -> tile<64x{0}>, token\n%three = constant <i32: 3> : tile<64xi32>\n%w = andi %i, %three : "
          "tile<64xi32>\n%r1 = reshape %r_base : tile<ptr<{0}>> -> tile<1xptr<{0}>>\n%rn = broadcast %r1 : "
          "tile<1xptr<{0}>> "
          "-> tile<64xptr<{0}>>\n%to = offset %rn, %w : tile<64xptr<{0}>>, tile<64xi32> -> tile<64xptr<{0}>>\n%five = "
          "constant <i32: 60> : tile<64xi32>\n%m = cmpi less_than %i, %five, signed : tile<64xi32> -> tile<64xi1>\n%o, "
          "%u = "
          "atomic_rmw_tko relaxed device %to, {1}, %a, %m : tile<64xptr<{0}>>, tile<64x{0}>, tile<64xi1> -> "
          "tile<64x{0}>, "
          "token\n}}",
          ir::tile_name(e), mode);
      Both both(tp::read_program(text, mode));
      both.launcher.add_pointer("a", e, 64);
      both.launcher.add_pointer("r", e, 4);
      both.expect_equal({3, 1, 1});
    }
}

}  // namespace
}  // namespace deplo::measure
