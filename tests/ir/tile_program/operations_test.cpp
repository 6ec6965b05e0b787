// The results of each operation, taken from what a program prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "ir/tile_program/interpret/evaluators.h"
#include "ir/tile_program/launches.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace {

/// Returns what an entry with these operations prints. Each `show %x : TYPE` prints a value and a space.
std::string shown(std::string body) {
  for (std::size_t at = 0; (at = body.find("show ", at)) != std::string::npos;) {
    const std::size_t name_end = body.find(' ', at + 5), line_end = std::min(body.find('\n', at), body.size());
    const std::string value = body.substr(at + 5, name_end - at - 5), type = body.substr(name_end, line_end - name_end);
    const std::string line = "print \"%\\20\", " + value + type;
    body.replace(at, line_end - at, line);
    at += line.size();
  }
  const Program program = read_program("entry @f() {\n" + body + "\n}", "test.tile");
  EXPECT_EQ(print(read_program(print(program), "again")), print(program));
  Launcher launcher;
  std::string text = launcher.run(program, {1, 1, 1}).printed;
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

/// Returns the result of an operation on two constants, `%a` and `%b`.
std::string of_two(const std::string& type, const std::string& a, const std::string& b, const std::string& operation,
                   const std::string& result) {
  const std::string element = type.substr(type.rfind('x') == std::string::npos ? 0 : type.rfind('x') + 1);
  return shown("%a = constant <" + element + ": " + a + "> : tile<" + type + ">\n%b = constant <" + element + ": " + b +
               "> : tile<" + type + ">\n%r = " + operation + "\nshow %r : tile<" + result + ">");
}

TEST(Operations, IntegersWrapByTheirWidth) {
  EXPECT_EQ(of_two("i8", "100", "100", "addi %a, %b : tile<i8>", "i8"), "-56");
  EXPECT_EQ(of_two("i8", "-128", "1", "subi %a, %b : tile<i8>", "i8"), "127");
  EXPECT_EQ(of_two("i16", "300", "300", "muli %a, %b : tile<i16>", "i16"), "24464");
  EXPECT_EQ(of_two("i32", "2147483648", "2", "mulhii %a, %b : tile<i32>", "i32"), "1");
  EXPECT_EQ(of_two("i64", "-1", "-1", "mulhii %a, %b : tile<i64>", "i64"), "-2");
  EXPECT_EQ(of_two("i1", "true", "true", "addi %a, %b : tile<i1>", "i1"), "0");
  EXPECT_EQ(of_two("i64", "9223372036854775807", "3", "muli %a, %b : tile<i64>", "i64"), "9223372036854775805");
  EXPECT_EQ(shown("%a = constant <i8: -128> : tile<i8>\n%r = absi %a : tile<i8>\nshow %r : tile<i8>\n%n = negi %a : "
                  "tile<i8>\nshow %n : tile<i8>"),
            "-128 -128");
}

TEST(Operations, IntegerDivisionRoundsAsItSays) {
  EXPECT_EQ(of_two("4xi32", "[7, 7, -7, -7]", "[3, -3, 3, -3]", "divi %a, %b signed : tile<4xi32>", "4xi32"),
            "[2, -2, -2, 2]");
  EXPECT_EQ(of_two("4xi32", "[7, 7, -7, -7]", "[3, -3, 3, -3]",
                   "divi %a, %b signed rounding<negative_inf> : tile<4xi32>", "4xi32"),
            "[2, -3, -3, 2]");
  EXPECT_EQ(of_two("4xi32", "[7, 7, -7, -7]", "[3, -3, 3, -3]",
                   "divi %a, %b signed rounding<positive_inf> : tile<4xi32>", "4xi32"),
            "[3, -2, -2, 3]");
  EXPECT_EQ(of_two("i8", "-1", "2", "divi %a, %b unsigned : tile<i8>", "i8"), "127");
  EXPECT_EQ(of_two("i8", "-1", "2", "divi %a, %b unsigned rounding<positive_inf> : tile<i8>", "i8"), "-128");
  EXPECT_EQ(of_two("4xi32", "[7, 7, -7, -7]", "[3, -3, 3, -3]", "remi %a, %b signed : tile<4xi32>", "4xi32"),
            "[1, 1, -1, -1]");
}

TEST(Operations, IntegerBitsAndOrder) {
  EXPECT_EQ(of_two("i8", "12", "10", "andi %a, %b : tile<i8>", "i8"), "8");
  EXPECT_EQ(of_two("i8", "12", "10", "ori %a, %b : tile<i8>", "i8"), "14");
  EXPECT_EQ(of_two("i8", "12", "10", "xori %a, %b : tile<i8>", "i8"), "6");
  EXPECT_EQ(of_two("i8", "-16", "2", "shri %a, %b signed : tile<i8>", "i8"), "-4");
  EXPECT_EQ(of_two("i8", "-16", "2", "shri %a, %b unsigned : tile<i8>", "i8"), "60");
  EXPECT_EQ(of_two("i8", "96", "1", "shli %a, %b : tile<i8>", "i8"), "-64");
  EXPECT_EQ(of_two("i8", "-1", "1", "maxi %a, %b signed : tile<i8>", "i8"), "1");
  EXPECT_EQ(of_two("i8", "-1", "1", "maxi %a, %b unsigned : tile<i8>", "i8"), "-1");
  EXPECT_EQ(of_two("i8", "-1", "1", "mini %a, %b signed : tile<i8>", "i8"), "-1");
  EXPECT_EQ(of_two("i8", "-1", "1", "cmpi less_than %a, %b, signed : tile<i8> -> tile<i1>", "i1"), "1");
  EXPECT_EQ(of_two("i8", "-1", "1", "cmpi less_than %a, %b, unsigned : tile<i8> -> tile<i1>", "i1"), "0");
  EXPECT_EQ(of_two("i8", "1", "1", "cmpi greater_than_or_equal %a, %b, unsigned : tile<i8> -> tile<i1>", "i1"), "1");
}

TEST(Operations, FloatsRoundToTheirType) {
  EXPECT_EQ(of_two("f16", "2048.0", "1.0", "addf %a, %b : tile<f16>", "f16"), "2048");
  EXPECT_EQ(of_two("f16", "2048.0", "1.0", "addf %a, %b rounding<positive_inf> : tile<f16>", "f16"), "2050");
  EXPECT_EQ(of_two("f32", "1.0", "1e-30", "addf %a, %b rounding<positive_inf> : tile<f32>", "f32"),
            "1.0000001192092896");
  EXPECT_EQ(of_two("f32", "1.0", "1e-30", "subf %a, %b rounding<zero> : tile<f32>", "f32"), "0.9999999403953552");
  EXPECT_EQ(of_two("f32", "1e-30", "1e-15", "mulf %a, %b : tile<f32>", "f32"), "1.401298464324817e-45");
  EXPECT_EQ(of_two("f32", "1e-30", "1e-15", "mulf %a, %b flush_to_zero : tile<f32>", "f32"), "0");
  EXPECT_EQ(of_two("bf16", "1.0", "3.0", "divf %a, %b : tile<bf16>", "bf16"), "0.333984375");
  EXPECT_EQ(of_two("f64", "1.0", "3.0", "divf %a, %b rounding<positive_inf> : tile<f64>", "f64"),
            "0.33333333333333337");
  EXPECT_EQ(of_two("f64", "1.0", "3.0", "divf %a, %b rounding<zero> : tile<f64>", "f64"), "0.3333333333333333");
  EXPECT_EQ(of_two("f64", "3.0", "1.7976931348623157e308", "mulf %a, %b rounding<zero> : tile<f64>", "f64"),
            "1.7976931348623157e+308");
  EXPECT_EQ(of_two("f64", "1e-200", "1e-200", "mulf %a, %b rounding<positive_inf> : tile<f64>", "f64"), "5e-324");
  EXPECT_EQ(of_two("f64", "1e-30", "-1.0", "fma %a, %a, %b rounding<zero> : tile<f64>", "f64"), "-0.9999999999999999");
  EXPECT_EQ(of_two("f64", "1e-30", "-1.0", "fma %a, %a, %b : tile<f64>", "f64"), "-1");
  EXPECT_EQ(of_two("f32", "5.5", "-2.0", "remf %a, %b : tile<f32>", "f32"), "1.5");
  EXPECT_EQ(of_two("f32", "2.0", "0.5", "pow %a, %b : tile<f32>", "f32"), "1.4142135381698608");
  EXPECT_EQ(of_two("f32", "1.0", "-1.0", "atan2 %a, %b : tile<f32>", "f32"), "2.356194496154785");
  // The product has 48 bits. An fma keeps them; a separate product and sum do not.
  EXPECT_EQ(shown("%a = constant <f32: 0x3F800001> : tile<f32>\n%c = constant <f32: -1.0> : tile<f32>\n%r = fma %a, "
                  "%a, %c : tile<f32>\nshow %r : tile<f32>"),
            "2.384185791015625e-07");
}

TEST(Operations, MinimaMaximaAndComparisonsOfNaN) {
  EXPECT_EQ(of_two("f32", "0x7FC00000", "2.0", "maxf %a, %b : tile<f32>", "f32"), "2");
  EXPECT_EQ(of_two("f32", "0x7FC00000", "2.0", "maxf %a, %b propagate_nan : tile<f32>", "f32"), "nan");
  EXPECT_EQ(of_two("f32", "-0.0", "0.0", "maxf %b, %a : tile<f32>", "f32"), "0");
  EXPECT_EQ(of_two("f32", "0.0", "-0.0", "minf %a, %b : tile<f32>", "f32"), "-0");
  EXPECT_EQ(of_two("f32", "0x7FC00000", "2.0", "cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>", "i1"), "0");
  EXPECT_EQ(of_two("f32", "0x7FC00000", "2.0", "cmpf less_than unordered %a, %b : tile<f32> -> tile<i1>", "i1"), "1");
  EXPECT_EQ(of_two("f32", "1.0", "2.0", "cmpf not_equal ordered %a, %b : tile<f32> -> tile<i1>", "i1"), "1");
}

TEST(Operations, UnaryFloats) {
  const auto of_one = [](const std::string& number, const std::string& operation) {
    return shown("%a = constant <f32: " + number + "> : tile<f32>\n%r = " + operation +
                 " : tile<f32>\nshow %r : tile<f32>");
  };
  EXPECT_EQ(of_one("-1.5", "absf %a"), "1.5");
  EXPECT_EQ(of_one("-1.5", "negf %a"), "1.5");
  EXPECT_EQ(of_one("1.5", "floor %a"), "1");
  EXPECT_EQ(of_one("1.5", "ceil %a"), "2");
  EXPECT_EQ(of_one("0.0", "exp %a"), "1");
  EXPECT_EQ(of_one("3.0", "exp2 %a flush_to_zero"), "8");
  EXPECT_EQ(of_one("8.0", "log2 %a"), "3");
  EXPECT_EQ(of_one("1.0", "log %a"), "0");
  EXPECT_EQ(of_one("16.0", "sqrt %a rounding<approx>"), "4");
  EXPECT_EQ(of_one("16.0", "rsqrt %a"), "0.25");
  EXPECT_EQ(of_one("0.0", "sin %a"), "0");
  EXPECT_EQ(of_one("0.0", "cos %a"), "1");
  EXPECT_EQ(of_one("0.0", "tan %a"), "0");
  EXPECT_EQ(of_one("0.0", "sinh %a"), "0");
  EXPECT_EQ(of_one("0.0", "cosh %a"), "1");
  EXPECT_EQ(of_one("0.0", "tanh %a rounding<approx>"), "0");
}

TEST(Operations, Conversions) {
  const auto convert = [](const std::string& from, const std::string& number, const std::string& operation,
                          const std::string& to) {
    return shown("%a = constant <" + from + ": " + number + "> : tile<" + from + ">\n%r = " + operation + " : tile<" +
                 from + "> -> tile<" + to + ">\nshow %r : tile<" + to + ">");
  };
  EXPECT_EQ(convert("i8", "-1", "exti %a signed", "i32"), "-1");
  EXPECT_EQ(convert("i8", "-1", "exti %a unsigned", "i32"), "255");
  EXPECT_EQ(convert("i1", "true", "exti %a unsigned", "i32"), "1");
  EXPECT_EQ(convert("i32", "257", "trunci %a", "i8"), "1");
  EXPECT_EQ(convert("i32", "3", "trunci %a", "i1"), "1");
  EXPECT_EQ(convert("f32", "-2.75", "ftoi %a signed", "i32"), "-2");
  EXPECT_EQ(convert("f32", "200.5", "ftoi %a unsigned", "i8"), "-56");
  EXPECT_EQ(convert("i32", "-3", "itof %a signed", "f16"), "-3");
  EXPECT_EQ(convert("i64", "9007199254740993", "itof %a signed rounding<positive_inf>", "f64"), "9007199254740994");
  EXPECT_EQ(convert("i32", "-1", "itof %a unsigned", "f32"), "4294967296");
  EXPECT_EQ(convert("f32", "300.0", "ftof %a", "f8E4M3FN"), "288");
  EXPECT_EQ(convert("f32", "1.0", "bitcast %a", "i32"), "1065353216");
  EXPECT_EQ(convert("i32", "1065353216", "bitcast %a", "f32"), "1");
  EXPECT_EQ(convert("f32", "5.0", "ftof %a rounding<zero>", "f8E8M0FNU"), "4");
  EXPECT_EQ(convert("f32", "5.0", "ftof %a rounding<positive_inf>", "f8E8M0FNU"), "8");
  EXPECT_EQ(shown("%a = constant <f16: [1.0, 2.0]> : tile<2xf16>\n%p = pack %a : tile<2xf16> -> tile<4xi8>\nshow %p : "
                  "tile<4xi8>\n%u = unpack %p : tile<4xi8> -> tile<2xf16>\nshow %u : tile<2xf16>"),
            "[0, 60, 0, 64] [1, 2]");
  EXPECT_EQ(shown("%a = constant <f4E2M1FN: [0.5, 1.5]> : tile<2xf4E2M1FN>\n%p = pack %a : tile<2xf4E2M1FN> -> "
                  "tile<1xi8>\nshow %p : tile<1xi8>\n%u = unpack %p : tile<1xi8> -> tile<2xf4E2M1FN>\nshow %u : "
                  "tile<2xf4E2M1FN>"),
            "[49] [0.5, 1.5]");
  EXPECT_EQ(
      shown(
          "%a = constant <i64: 4096> : tile<i64>\n%p = int_to_ptr %a : tile<i64> -> tile<ptr<f32>>\n%q = ptr_to_ptr %p "
          ": tile<ptr<f32>> -> tile<ptr<i8>>\n%i = ptr_to_int %q : tile<ptr<i8>> -> tile<i64>\nshow %i : tile<i64>"),
      "4096");
}

TEST(Operations, Shapes) {
  const std::string matrix = "%a = constant <i32: [[1, 2, 3, 4], [5, 6, 7, 8]]> : tile<2x4xi32>\n";
  EXPECT_EQ(shown(matrix + "%r = reshape %a : tile<2x4xi32> -> tile<4x2xi32>\nshow %r : tile<4x2xi32>"),
            "[[1, 2], [3, 4], [5, 6], [7, 8]]");
  EXPECT_EQ(shown(matrix + "%r = permute %a [1, 0] : tile<2x4xi32> -> tile<4x2xi32>\nshow %r : tile<4x2xi32>"),
            "[[1, 5], [2, 6], [3, 7], [4, 8]]");
  EXPECT_EQ(shown(matrix + "%i = constant <i32: 1> : tile<i32>\n%r = extract %a[%i, %i] : tile<2x4xi32> -> "
                           "tile<1x2xi32>\nshow %r : tile<1x2xi32>"),
            "[[7, 8]]");
  EXPECT_EQ(
      shown(matrix + "%r = cat %a, %a dim = 0 : tile<2x4xi32>, tile<2x4xi32> -> tile<4x4xi32>\n%i = constant <i32: 1> "
                     ": tile<i32>\n%e = extract %r[%i, %i] : tile<4x4xi32> -> tile<2x2xi32>\nshow %e : tile<2x2xi32>"),
      "[[3, 4], [7, 8]]");
  EXPECT_EQ(shown("%a = constant <i32: [[1], [2]]> : tile<2x1xi32>\n%r = broadcast %a : tile<2x1xi32> -> "
                  "tile<2x2xi32>\nshow %r : tile<2x2xi32>"),
            "[[1, 1], [2, 2]]");
  EXPECT_EQ(shown("%r = iota : tile<4xi8>\nshow %r : tile<4xi8>"), "[0, 1, 2, 3]");
  EXPECT_EQ(
      shown(
          "%c = constant <i1: [true, false]> : tile<2xi1>\n%a = constant <f32: [1.0, 2.0]> : tile<2xf32>\n%b = "
          "constant <f32: 0.0> : tile<2xf32>\n%r = select %c, %a, %b : tile<2xi1>, tile<2xf32>\nshow %r : tile<2xf32>"),
      "[1, 0]");
}

TEST(Operations, ReductionsAndScans) {
  const std::string matrix = "%a = constant <f32: [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tile<2x4xf32>\n";
  const std::string sum = "(%x: tile<f32>, %s: tile<f32>) {\n%t = addf %x, %s : tile<f32>\nyield %t : tile<f32>\n}\n";
  EXPECT_EQ(shown(matrix + "%r = reduce %a dim=1 identities=[0.0 : f32] : tile<2x4xf32> -> tile<2xf32>\n" + sum +
                  "show %r : tile<2xf32>"),
            "[10, 26]");
  EXPECT_EQ(shown(matrix + "%r = reduce %a dim=0 identities=[0.0 : f32] : tile<2x4xf32> -> tile<4xf32>\n" + sum +
                  "show %r : tile<4xf32>"),
            "[6, 8, 10, 12]");
  EXPECT_EQ(
      shown(matrix + "%r = scan %a dim=1 reverse=false identities=[0.0 : f32] : tile<2x4xf32> -> tile<2x4xf32>\n" +
            sum + "show %r : tile<2x4xf32>"),
      "[[1, 3, 6, 10], [5, 11, 18, 26]]");
  EXPECT_EQ(shown(matrix + "%r = scan %a dim=1 reverse=true identities=[0.0 : f32] : tile<2x4xf32> -> tile<2x4xf32>\n" +
                  sum + "show %r : tile<2x4xf32>"),
            "[[10, 9, 7, 4], [26, 21, 15, 8]]");
  // The maximum and its index, by a body that branches.
  EXPECT_EQ(shown("%v = constant <f32: [3.0, 9.0, 4.0, 9.0]> : tile<4xf32>\n%i = iota : tile<4xi32>\n"
                  "%m, %at = reduce %v, %i dim=0 identities=[-1.0 : f32, 0 : i32] : tile<4xf32>, tile<4xi32> -> "
                  "tile<f32>, tile<i32>\n"
                  "(%x: tile<f32>, %best: tile<f32>, %xi: tile<i32>, %bi: tile<i32>) {\n"
                  "%c = cmpf greater_than ordered %x, %best : tile<f32> -> tile<i1>\n"
                  "%r, %ri = if %c -> (tile<f32>, tile<i32>) {\nyield %x, %xi : tile<f32>, tile<i32>\n} else {\nyield "
                  "%best, %bi : tile<f32>, tile<i32>\n}\n"
                  "yield %r, %ri : tile<f32>, tile<i32>\n}\nshow %m : tile<f32>\nshow %at : tile<i32>"),
            "9 1");
}

TEST(Operations, Products) {
  EXPECT_EQ(
      shown(
          "%a = constant <f16: [[1.0, 2.0], [3.0, 4.0]]> : tile<2x2xf16>\n%c = constant <f32: 1.0> : tile<2x2xf32>\n%r "
          "= mmaf %a, %a, %c : tile<2x2xf16>, tile<2x2xf16>, tile<2x2xf32>\nshow %r : tile<2x2xf32>"),
      "[[8, 11], [16, 23]]");
  EXPECT_EQ(shown("%a = constant <i8: [[-1, 2]]> : tile<1x2xi8>\n%b = constant <i8: [[3], [4]]> : tile<2x1xi8>\n%c = "
                  "constant <i32: 0> : tile<1x1xi32>\n%r = mmai %a, %b, %c signed signed : tile<1x2xi8>, tile<2x1xi8>, "
                  "tile<1x1xi32>\nshow %r : tile<1x1xi32>\n%u = mmai %a, %b, %c unsigned signed : tile<1x2xi8>, "
                  "tile<2x1xi8>, tile<1x1xi32>\nshow %u : tile<1x1xi32>"),
            "[[5]] [[773]]");
  EXPECT_EQ(shown("%a = constant <f8E5M2: [[[1.0, 2.0]], [[3.0, 4.0]]]> : tile<2x1x2xf8E5M2>\n%b = constant <f8E5M2: "
                  "1.0> : tile<2x2x1xf8E5M2>\n%c = constant <f32: 0.0> : tile<2x1x1xf32>\n%s = constant <f8E8M0FNU: "
                  "[[[2.0]], [[4.0]]]> : tile<2x1x1xf8E8M0FNU>\n%r = mmaf_scaled %a, %b, %c, %s, %s : "
                  "tile<2x1x2xf8E5M2>, tile<2x2x1xf8E5M2>, tile<2x1x1xf32>, tile<2x1x1xf8E8M0FNU>, "
                  "tile<2x1x1xf8E8M0FNU>\nshow %r : tile<2x1x1xf32>"),
            "[[[12]], [[112]]]");
}

TEST(Operations, ControlFlow) {
  const std::string numbers =
      "%0 = constant <i32: 0> : tile<i32>\n%1 = constant <i32: 1> : tile<i32>\n%10 = constant <i32: 10> : tile<i32>\n";
  EXPECT_EQ(shown(numbers + "%r = for %i in (%0 to %10, step %1) : tile<i32> iter_values(%s = %0) -> (tile<i32>) {\n%t "
                            "= addi %s, %i : tile<i32>\ncontinue %t : tile<i32>\n}\nshow %r : tile<i32>"),
            "45");
  EXPECT_EQ(shown(numbers + "%r = for %i in (%10 to %0, step %1) : tile<i32> iter_values(%s = %1) -> (tile<i32>) "
                            "{\ncontinue %0 : tile<i32>\n}\nshow %r : tile<i32>"),
            "1");
  EXPECT_EQ(shown(numbers + "%m = constant <i32: -1> : tile<i32>\n%r = for unsigned %i in (%10 to %m, step %m) : "
                            "tile<i32> iter_values(%s = %0) -> (tile<i32>) {\n%t = addi %s, %1 : tile<i32>\ncontinue "
                            "%t : tile<i32>\n}\nshow %r : tile<i32>"),
            "1");
  EXPECT_EQ(
      shown(numbers + "%r = loop iter_values(%i = %0) : tile<i32> -> tile<f32> {\n%c = cmpi less_than %i, %10, signed "
                      ": tile<i32> -> tile<i1>\nif %c {\n%n = addi %i, %1 : tile<i32>\ncontinue %n : tile<i32>\n}\n%f "
                      "= itof %i signed : tile<i32> -> tile<f32>\nbreak %f : tile<f32>\n}\nshow %r : tile<f32>"),
      "10");
  EXPECT_EQ(shown(numbers + "%c = cmpi equal %0, %1, signed : tile<i32> -> tile<i1>\n%r = if %c -> (tile<i32>) "
                            "{\nyield %0 : tile<i32>\n} else {\nyield %10 : tile<i32>\n}\nshow %r : tile<i32>\nif %c "
                            "{\nreturn\n}\nshow %1 : tile<i32>"),
            "10 1");
}

TEST(Operations, MemoryOfTheProgram) {
  EXPECT_EQ(
      shown(
          "%p = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>\n%i = iota : tile<4xi32>\n%p1 = reshape %p : "
          "tile<ptr<f32>> -> tile<1xptr<f32>>\n%p4 = broadcast %p1 : tile<1xptr<f32>> -> tile<4xptr<f32>>\n%q = offset "
          "%p4, %i : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>\n%v = itof %i signed : tile<4xi32> -> "
          "tile<4xf32>\n%t = store_ptr_tko weak %q, %v : tile<4xptr<f32>>, tile<4xf32> -> token\n%one = constant <f32: "
          "1.0> : tile<4xf32>\n%old, %t2 = atomic_rmw_tko relaxed device %q, addf, %one token=%t : tile<4xptr<f32>>, "
          "tile<4xf32> -> tile<4xf32>, token\n%m = constant <i1: [true, true, false, true]> : tile<4xi1>\n%pad = "
          "constant <f32: 9.0> : tile<4xf32>\n%l, %t3 = load_ptr_tko weak %q, %m, %pad token=%t2 : tile<4xptr<f32>>, "
          "tile<4xi1>, tile<4xf32> -> tile<4xf32>, token\nshow %old : tile<4xf32>\nshow %l : tile<4xf32>"),
      "[0, 1, 2, 3] [1, 2, 9, 4]");
  const std::string view =
      "%p = alloca num_elem = 16, alignment = 16 : tile<ptr<i32>>\n%v = make_tensor_view %p, shape = [6], strides = "
      "[2] : tensor_view<6xi32, strides=[2]>\n%0 = constant <i32: 0> : tile<i32>\n%1 = constant <i32: 1> : tile<i32>\n";
  EXPECT_EQ(
      shown(view + "%w = make_partition_view %v : partition_view<tile=(4), padding_value = zero, tensor_view<6xi32, "
                   "strides=[2]>>\n%i = iota : tile<4xi32>\n%t = store_view_tko weak %i, %w[%1] : tile<4xi32>, "
                   "partition_view<tile=(4), padding_value = zero, tensor_view<6xi32, strides=[2]>>, tile<i32> -> "
                   "token\n%l, %t2 = load_view_tko weak %w[%1] token = %t : partition_view<tile=(4), padding_value = "
                   "zero, tensor_view<6xi32, strides=[2]>>, tile<i32> -> tile<4xi32>, token\nshow %l : tile<4xi32>\n%n "
                   "= get_index_space_shape %w : partition_view<tile=(4), padding_value = zero, tensor_view<6xi32, "
                   "strides=[2]>> -> tile<i32>\nshow %n : tile<i32>\n%e = get_tensor_shape %v : tensor_view<6xi32, "
                   "strides=[2]> -> tile<i64>\nshow %e : tile<i64>"),
      "[0, 1, 0, 0] 2 6");
  EXPECT_EQ(
      shown(view + "%w = make_strided_view %v : strided_view<tile=(2), traversal_strides=[3], tensor_view<6xi32, "
                   "strides=[2]>>\n%i = iota : tile<2xi32>\n%t = store_view_tko weak %i, %w[%1] : tile<2xi32>, "
                   "strided_view<tile=(2), traversal_strides=[3], tensor_view<6xi32, strides=[2]>>, tile<i32> -> "
                   "token\n%g = make_gather_scatter_view %v : gather_scatter_view<tile=(4), padding_value = zero, "
                   "tensor_view<6xi32, strides=[2]>, sparse_dim=0>\n%x = constant <i32: [4, 3, 4, 7]> : "
                   "tile<4xi32>\n%l, %t2 = load_view_tko weak %g[%x] token = %t : gather_scatter_view<tile=(4), "
                   "padding_value = zero, tensor_view<6xi32, strides=[2]>, sparse_dim=0>, tile<4xi32> -> tile<4xi32>, "
                   "token\nshow %l : tile<4xi32>\n%n = get_index_space_shape %w : strided_view<tile=(2), "
                   "traversal_strides=[3], tensor_view<6xi32, strides=[2]>> -> tile<i32>\nshow %n : tile<i32>"),
      "[1, 0, 1, 0] 2");
  EXPECT_EQ(shown(view + "%w = make_partition_view %v : partition_view<tile=(2), tensor_view<6xi32, strides=[2]>>\n%c "
                         "= constant <i32: [5, 7]> : tile<2xi32>\n%t = atomic_red_view_tko relaxed device %w[%0], add, "
                         "%c : tile<2xi32>, partition_view<tile=(2), tensor_view<6xi32, strides=[2]>>, tile<i32> -> "
                         "token\n%l, %t2 = load_view_tko weak %w[%0] token = %t : partition_view<tile=(2), "
                         "tensor_view<6xi32, strides=[2]>>, tile<i32> -> tile<2xi32>, token\nshow %l : tile<2xi32>"),
            "[5, 7]");
}

TEST(Operations, Prints) {
  EXPECT_EQ(shown("%a = constant <f32: 3.14159> : tile<f32>\n%b = constant <i32: -7> : tile<i32>\nprint_tko "
                  "\"%+08.3f|%i|%5d|%x|100%%|%\\09\", %a, %b, %b, %b, %a : tile<f32>, tile<i32>, tile<i32>, tile<i32>, "
                  "tile<f32> -> token"),
            "+003.142|-7|   -7|fffffff9|100%|3.141590118408203\t");
}

TEST(Operations, EachHasAMeaningOrIsRefused) {
  const std::set<std::string_view> of_the_machine = {"break", "continue", "for", "if", "loop", "return", "yield"};
  EXPECT_EQ(std::count_if(operations().begin(), operations().end(), [](const Form& f) { return f.refused.empty(); }),
            102);
  for (const Form& form : operations()) {
    const bool runs = exec::find_evaluator(form) != nullptr || of_the_machine.contains(form.name);
    EXPECT_NE(runs, !form.refused.empty()) << form.name;
  }
}

TEST(Operations, OpcodesAreUnique) {
  std::set<std::uint32_t> opcodes;
  for (const Form& form : operations()) {
    EXPECT_TRUE(opcodes.insert(form.opcode).second) << form.name;
    EXPECT_EQ(find_opcode(form.opcode), &form);
    EXPECT_EQ(find_operation(form.name), &form);
  }
  EXPECT_EQ(find_operation("cuda_tile.addf"), find_operation("addf"));
}

}  // namespace
}  // namespace deplo::ir::tile_program
