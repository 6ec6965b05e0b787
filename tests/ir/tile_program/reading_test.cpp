// Text and bytecode with errors, and the messages about them; damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/file.h"
#include "core/rng.h"
#include "ir/tile_program/bytecode/read_bytecode.h"
#include "ir/tile_program/launches.h"
#include "ir/tile_program/text/text.h"

namespace deplo::ir::tile_program {
namespace {

using ::testing::HasSubstr;

std::string said(std::string_view text) {
  try {
    read_program(text, "t");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
/// Returns the message about an entry with these operations, which begin at line 2.
std::string said_of(const std::string& body) {
  return said("entry @f(%p: tile<ptr<f32>>, %n: tile<i32>) {\n" + body + "\n}");
}

TEST(Reading, TextThatIsNone) {
  EXPECT_EQ(said("kernel @f() {}"), "t:1:1: expected module, entry or global, found 'kernel'");
  EXPECT_EQ(said("entry @f( {}"), "t:1:11: expected an argument, found '{'");
  EXPECT_EQ(said("entry @f() {"), "t:1:13: expected '}', found the end of the text");
  EXPECT_EQ(said_of("%a = adi %n, %n : tile<i32>"), "t:2:6: expected an operation, found 'adi'; did you mean 'addi'?");
  EXPECT_EQ(said_of("%a = addi %n, %m : tile<i32>"), "t:2:15: expected a value that is defined before, found %m");
  EXPECT_EQ(said_of("%a, %b = addi %n, %n : tile<i32>"), "t:2:10: addi: expected names for its 1 results, found 2");
  EXPECT_EQ(said_of("%a = constant <i8: 300> : tile<i8>"),
            "t:2:20: expected a whole number that i8 holds, found '300'");
  EXPECT_EQ(said_of("%a = constant <i32: [1, 2]> : tile<4xi32>"), "t:2:15: expected numbers of the shape 4, found 2");
  EXPECT_EQ(said_of("%a = constant <i32: 1> : tile<3xi32>"),
            "t:2:26: tile: expected extents that are powers of two, found 3");
  EXPECT_EQ(said_of("%a = cmpi les_than %n, %n, signed : tile<i32> -> tile<i1>"),
            "t:2:11: expected comparison_predicate (equal, not_equal, less_than, less_than_or_equal, greater_than, "
            "greater_than_or_equal), found 'les_than'");
  EXPECT_EQ(said_of("multimem_store_view_tko %n : tile<i32>"),
            "t:2:1: expected an operation of an entry, found multimem_store_view_tko, which is of version 13.5; deplo "
            "reads 13.1 to 13.4");
  EXPECT_EQ(said_of("print \"a\n\""), "t:2:7: expected the end of a string on its line, found none");
}

TEST(Reading, MessagesSayWhatWouldBeRight) {
  EXPECT_EQ(said_of("%a = addf %n, %n\n%b = iota : tile<4xi32>"), "t:3:1: expected ':', found '%b'");
  EXPECT_EQ(said_of("%a = addf %n, %n rounding<up> : tile<i32>"),
            "t:2:27: expected rounding_mode (nearest_even, zero, negative_inf, positive_inf), found 'up'");
  EXPECT_EQ(said_of("%a, %t = load_ptr_tko %p : tile<ptr<f32>> -> tile<f32>, token"),
            "t:2:23: expected memory_ordering_semantics (weak, relaxed, acquire), found '%p'");
  EXPECT_EQ(said_of("%a = iota : tile<4xint>"),
            "t:2:20: expected an element type (f32, f16, bf16, i32, i1, i64, i8, i16, i4, tf32, f64, f8E4M3FN, f8E5M2, "
            "f8E8M0FNU, f4E2M1FN), found 'int'");
  EXPECT_EQ(said_of("%a = constant dense<1.0> : tile<f32>"),
            "t:2:15: expected the type and values of elements, such as <f32: 1.0>, found 'dense'");
  EXPECT_EQ(said_of("%a = constant <f32: nan> : tile<f32>"),
            "t:2:21: expected a number; the bits of a NaN or infinity, such as 0x7FC00000, are one, found 'nan'");
  EXPECT_EQ(said_of("return\n%a = addi %n, %n : tile<i32>"),
            "t:3:1: expected '}' after return, which ends its region, found '%a'");
  EXPECT_EQ(said_of("%c = trunci %n : tile<i32> -> tile<i1>\nif %c {\nyield %n : tile<i32>\n}"),
            "t:4:1: yield: expected no values, found tile<i32>");
  EXPECT_EQ(said_of("for %i in (%n to %n, step %n) : tile<i64> {\n}"),
            "t:2:1: for: expected a counter of tile<i32>, the type of the bounds, found tile<i64>");
  EXPECT_EQ(said_of("%v = constant <f32: 1.0> : tile<f32>\n%a, %t = atomic_rmw_tko relaxed device %p, add, %v : "
                    "tile<ptr<f32>>, tile<f32> -> tile<f32>, token"),
            "t:3:1: atomic_rmw_tko: expected i32 or i64 to be added by add, as addf adds floats, found f32");
}

TEST(Reading, NamesAreDefinedOnce) {
  EXPECT_EQ(said_of("%n = addi %n, %n : tile<i32>"), "t:2:1: expected a new name, found %n, which line 1 defines");
  EXPECT_EQ(said_of("%a, %a, %b = get_tile_block_id : tile<i32>"),
            "t:2:5: expected a new name, found %a, which line 2 defines");
  EXPECT_EQ(said("entry @f(%p: tile<i32>,\n%p: tile<i32>) {\n}"),
            "t:2:1: expected a new name, found %p, which line 1 defines");
  EXPECT_EQ(said_of("%a = addi %n, %n : tile<i32>\nfor %a in (%n to %n, step %n) : tile<i32> {\n}"),
            "t:3:5: expected a new name, found %a, which line 2 defines");
  EXPECT_EQ(said_of("for %i in (%n to %n, step %n) : tile<i32> {\n%n = addi %i, %i : tile<i32>\n}"),
            "t:3:1: expected a new name, found %n, which line 1 defines");
  // Regions beside each other may use the same names.
  const std::string loop = "for %i in (%n to %n, step %n) : tile<i32> {\n%a = addi %i, %i : tile<i32>\n}\n";
  EXPECT_EQ(said_of(loop + loop + "%a = addi %n, %n : tile<i32>"), "");
}

TEST(Reading, Verifies) {
  EXPECT_EQ(said_of("%c = constant <f32: 1.0> : tile<f32>\n%a = addi %n, %c : tile<i32>"),
            "t:3:1: addi: expected rhs to be tile<i32>, found tile<f32>");
  EXPECT_EQ(said_of("%a = addf %n, %n : tile<i32>"),
            "t:2:1: addf: expected lhs to be a tile of f16, bf16, f32 or f64, found tile<i32>");
  EXPECT_EQ(said_of("%a = reshape %n : tile<i32> -> tile<2xi32>"),
            "t:2:1: reshape: expected the same number of elements of the same type, found tile<i32> and tile<2xi32>");
  EXPECT_EQ(said_of("%a = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f16>, token"),
            "t:2:6: load_ptr_tko: expected names for its 2 results, found 1");
  EXPECT_EQ(said_of("%a, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f16>, token"),
            "t:2:1: load_ptr_tko: expected values of the pointers' type, found tile<ptr<f32>> and tile<f16>");
  EXPECT_EQ(said_of("%a, %t = load_ptr_tko relaxed %p : tile<ptr<f32>> -> tile<f32>, token"),
            "t:2:1: load_ptr_tko: expected a memory scope (tl_blk, device or sys), found none");
  EXPECT_EQ(
      said_of("%a, %t = load_ptr_tko release device %p : tile<ptr<f32>> -> tile<f32>, token"),
      "t:2:1: load_ptr_tko: expected memory_ordering_semantics to be one of weak, relaxed, acquire; found release");
  EXPECT_EQ(said_of("break"), "t:2:1: break: expected a loop around it, found none");
  EXPECT_EQ(said_of("for %i in (%n to %n, step %n) : tile<i32> {\nbreak\n}"),
            "t:3:1: break: expected a loop around it, found none");
  EXPECT_EQ(said_of("return\nreturn"), "t:2:1: return: expected the end of its region after it, found return");
  EXPECT_EQ(said_of("%r = for %i in (%n to %n, step %n) : tile<i32> iter_values(%s = %n) -> (tile<i32>) {\n}"),
            "t:3:1: continue: expected values of tile<i32>, found none");
  EXPECT_EQ(said_of("%c = trunci %n : tile<i32> -> tile<i1>\n%r = if %c -> (tile<i32>) {\nyield %n : tile<i32>\n}"),
            "t:3:1: if: expected an else for its results, found none");
  EXPECT_EQ(said_of("print \"%d %d\", %n : tile<i32>"),
            "t:2:1: print_tko: expected 2 values for the % of its text, found 1");
  EXPECT_EQ(said_of("%g = get_global @g : tile<ptr<f32>>"),
            "t:2:1: get_global: expected the name of a global, found @g");
  EXPECT_EQ(said_of("%a = constant <f32: 1.0> : tile<4x4xf32>\n%b = mmaf %a, %a, %a : tile<4x4xf32>, tile<4x4xf32>, "
                    "tile<4x4xf32>"),
            "");
  EXPECT_EQ(said_of("%a = constant <f32: 1.0> : tile<4x8xf32>\n%b = mmaf %a, %a, %a : tile<4x8xf32>, tile<4x8xf32>, "
                    "tile<4x8xf32>"),
            "t:3:1: mmaf: expected matrices of M x K, K x N and M x N, found 4x8, 4x8 and 4x8");
  EXPECT_EQ(said_of("%v = make_tensor_view %p, shape = [8], strides = [2] : tensor_view<8xf32, strides=[1]>"),
            "t:2:6: make_tensor_view: expected the strides of its type, 1, found 2");
  EXPECT_EQ(said("entry @f(%a: tile<2xi32>) {\n}"),
            "t:1:7: entry f: expected parameters that are tiles of rank 0, found tile<2xi32>");
  EXPECT_EQ(said("entry @f() {\n}\nentry @f() {\n}"), "t:3:7: entry f: expected a unique name, found it twice");
}

TEST(Reading, PrefixesMayBeThereOrNot) {
  const std::string with =
      "cuda_tile.module @m {\n cuda_tile.entry @f(%p: !cuda_tile.tile<!cuda_tile.ptr<f32>>) {\n %a = cuda_tile.assume "
      "#cuda_tile.div_by<16>, %p : !cuda_tile.tile<!cuda_tile.ptr<f32>>\n cuda_tile.return\n }\n}";
  const std::string without =
      "module @m {\n entry @f(%p: tile<ptr<f32>>) {\n %a = assume div_by<16>, %p : tile<ptr<f32>>\n }\n}";
  EXPECT_EQ(print(read_program(with, "t")), print(read_program(without, "t")));
}

/// Returns the text of a program as deplo prints it.
std::string printed(std::string_view text) { return print(read_program(text, "t")); }

/// Returns a constant as deplo prints it: "i32: 7".
std::string constant(const std::string& value) {
  const std::string element = value.substr(0, value.find(':'));
  const std::string text = printed("entry @f() {\n%a = constant <" + value + "> : tile<" + element + ">\n}");
  const std::size_t begin = text.find('<') + 1;
  return text.substr(begin, text.find('>') - begin);
}

TEST(Reading, HexadecimalConstantsAreBits) {
  EXPECT_EQ(constant("i32: 0x7FFFFFFF"), "i32: 2147483647");
  EXPECT_EQ(constant("i32: 0x80000000"), "i32: -2147483648");
  EXPECT_EQ(constant("i16: 0xFFFF"), "i16: -1");
  EXPECT_EQ(constant("i8: -0x80"), "i8: -128");
  EXPECT_EQ(constant("i1: 0x1"), "i1: true");
  EXPECT_EQ(constant("i64: 0xFFFFFFFFFFFFFFFE"), "i64: -2");
  EXPECT_EQ(constant("i64: 0x123456789ABCDEF0"), "i64: 1311768467463790320");
  EXPECT_EQ(constant("f16: 0x3C00"), "f16: 1.0");
  EXPECT_EQ(constant("bf16: 0x4040"), "bf16: 3.0");
  EXPECT_EQ(constant("f32: 0xFF800000"), "f32: 0XFF800000");
  EXPECT_EQ(constant("f64: 0x3FF0000000000000"), "f64: 1.0");
  EXPECT_EQ(constant("f8E4M3FN: 0x38"), "f8E4M3FN: 1.0");
  EXPECT_EQ(constant("f32: \"0x0000803F\""), "f32: 1.0");
  EXPECT_EQ(said_of("%a = constant <i8: 0x100> : tile<i8>"),
            "t:2:20: expected a whole number that i8 holds, found '0x100'");
  EXPECT_EQ(said_of("%a = constant <i8: -0x81> : tile<i8>"),
            "t:2:20: expected a whole number that i8 holds, found '-0x81'");
  EXPECT_EQ(said_of("%a = constant <f16: 0x10000> : tile<f16>"), "t:2:21: expected bits of f16, found '0x10000'");
  EXPECT_EQ(said_of("%a = constant <f16: -0x1> : tile<f16>"), "t:2:21: expected bits of f16, found '-0x1'");
  EXPECT_EQ(said_of("%a = constant <i16: \"0x0100020003\"> : tile<2xi16>"),
            "t:2:21: expected 0x and 4 hexadecimal digits for each i16, found the string \"0x0100020003\"");
  EXPECT_EQ(said_of("%a = constant <i16: \"0x01000200\"> : tile<4xi16>"),
            "t:2:21: expected bytes of 1 or 4 numbers, found those of 2");
  EXPECT_EQ(said_of("%a = constant <i16: \"0x0100020003000400\"> : tile<4xi16>\n%b = assume div_by<0x10>, %p : "
                    "tile<ptr<f32>>"),
            "");
}

TEST(Reading, LocationsOfEachKind) {
  const std::string plain = "module @m {\nentry @f(%p: tile<i32>) {\n%a = addi %p, %p : tile<i32>\nreturn\n}\n}";
  for (const std::string location :
       {"unknown", "\"k.py\":25:8", "\"k.py\":25:8 to :12", "\"k.py\":25:8 to 26:2", "\"name\"",
        "\"name\"(\"k.py\":1:2)", "fused[\"a.py\":1:2, unknown]", "fused<\"inlined\">[\"a.py\":1:2]",
        "callsite(\"a.py\":1:2 at \"b.py\":3:4)", "callsite(fused[#loc, unknown] at #loc-1)", "#loc",
        "#cuda_tile.di_loc<loc(\"k.py\":1:1) in #di_subprogram>"}) {
    const std::string loc = " loc(" + location + ")";
    EXPECT_EQ(printed("#loc-1 = loc(\"z.py\":1:1)\nmodule @m {\nentry @f(%p: tile<i32>" + loc +
                      ") {\n%a = addi %p, %p : tile<i32>" + loc + "\nreturn" + loc + "\n}" + loc + "\n}" + loc +
                      "\n#di_file = #cuda_tile.di_file<\"k.py\" in \"\">\n#loc = loc(\"k.py\":1:0)\n#di_subprogram = "
                      "#cuda_tile.di_subprogram<file = #di_file, line = 24, name = \"f\">"),
              printed(plain))
        << location;
  }
  EXPECT_EQ(said_of("return loc(#loc3)"), "t:2:12: expected an alias that the text defines, found #loc3");
  EXPECT_EQ(
      said_of("return loc(here)"),
      "t:2:12: expected a location: unknown, a file or name in quotes, callsite, fused, or an alias with #, found "
      "'here'");
  EXPECT_EQ(said_of("return loc(\"k.py\":1)"), "t:2:20: expected ':', found ')'");
  std::string deep = "return loc(";
  for (int i = 0; i < 5000; ++i) deep += "fused[";
  EXPECT_THAT(said_of(deep), HasSubstr("expected at most 64 nested locations"));
}

TEST(Reading, ModulesWithoutAName) {
  const std::string entry = "entry @f(%p: tile<i32>) {\nreturn\n}\n";
  const std::string plain = printed("module @kernels {\n" + entry + "}");
  EXPECT_EQ(printed(entry), plain);
  EXPECT_EQ(printed("module {\n" + entry + "}"), plain);
  EXPECT_EQ(printed("cuda_tile.module {\n" + entry + "}"), plain);
  EXPECT_EQ(printed("builtin.module {\ncuda_tile.module @kernels {\n" + entry + "}\n}"), plain);
  EXPECT_EQ(printed("module attributes {gpu.container, x.y = [1, {a = \"}\"}]} {\n" + entry + "}"), plain);
  EXPECT_EQ(said("module {\n" + entry + "}\nmodule {\n" + entry + "}"),
            "t:6:1: expected one module in a text, found another");
}

TEST(Reading, GenericForms) {
  const std::string plain = R"(
module @m attributes {producer = "p"} {
  global @g <f32: [1.0, 2.0]> : tile<2xf32>
  entry @f(%p: tile<ptr<f32>>, %n: tile<i32>) optimization_hints=<sm_100 = {num_cta_in_cga = 2}> {
    %x = constant <f32: 0x7FC00000> : tile<f32>
    %c = cmpi less_than %n, %n, signed : tile<i32> -> tile<i1>
    %y = addf %x, %x rounding<zero> flush_to_zero : tile<f32>
    %m = maxf %x, %y propagate_nan : tile<f32>
    %t = make_token : token
    %v, %u = load_ptr_tko weak %p, %c, %y token = %t optimization_hints = <sm_90 = {latency = 4}>
        : tile<ptr<f32>>, tile<i1>, tile<f32> -> tile<f32>, token
    %w = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %q = make_partition_view %w : partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>
    %z, %o = load_view_tko weak %q[%n] inbounds = [true]
        : partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
    %s = reduce %z dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
    (%a: tile<f32>, %b: tile<f32>) {
      %d = addf %a, %b : tile<f32>
      yield %d : tile<f32>
    }
    %r = for %i in (%n to %n, step %n) : tile<i32> iter_values(%k = %s) -> (tile<f32>) {
      continue %k : tile<f32>
    }
    if %c {
      return
    }
    %e = permute %z [0] : tile<8xf32> -> tile<8xf32>
    return
  }
})";
  const std::string generic = R"(
"builtin.module"() ({
"cuda_tile.module"() <{producer = "p", sym_name = "m"}> ({
  "cuda_tile.global"() <{alignment = 0 : i64, sym_name = "g", value = dense<[1.0, 2.0]> : !cuda_tile.tile<2xf32>}>
      : () -> ()
  "cuda_tile.entry"() <{function_type = (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> (),
      optimization_hints = #cuda_tile.optimization_hints<sm_100 = {num_cta_in_cga = 2 : i32}>, sym_name = "f"}> ({
  ^bb0(%p: !cuda_tile.tile<ptr<f32>>, %n: !cuda_tile.tile<i32> loc("k.py":1:2)):
    %x = "cuda_tile.constant"() <{value = dense<0x7FC00000> : !cuda_tile.tile<f32>}> : () -> !cuda_tile.tile<f32>
    %c = "cuda_tile.cmpi"(%n, %n) <{comparison_predicate = #cuda_tile.comparison_predicate<less_than>,
        signedness = #cuda_tile<signedness signed>}>
        : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>) -> !cuda_tile.tile<i1>
    %y = "cuda_tile.addf"(%x, %x) <{flush_to_zero, rounding_mode = #cuda_tile.rounding<zero>}> {some.note = "x"}
        : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    %m = "cuda_tile.maxf"(%x, %y) {propagate_nan}
        : (!cuda_tile.tile<f32>, !cuda_tile.tile<f32>) -> !cuda_tile.tile<f32>
    %t = "cuda_tile.make_token"() : () -> !cuda_tile.token
    %v, %u = "cuda_tile.load_ptr_tko"(%p, %c, %y, %t) <{
        memory_ordering_semantics = #cuda_tile.memory_ordering_semantics<weak>,
        operandSegmentSizes = array<i32: 1, 1, 1, 1>,
        optimization_hints = #cuda_tile.optimization_hints<sm_90 = {latency = 4}>}>
        : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i1>, !cuda_tile.tile<f32>, !cuda_tile.token)
        -> (!cuda_tile.tile<f32>, !cuda_tile.token) loc(unknown)
    %w = "cuda_tile.make_tensor_view"(%p, %n) <{operandSegmentSizes = array<i32: 1, 1, 0>}>
        : (!cuda_tile.tile<ptr<f32>>, !cuda_tile.tile<i32>) -> !cuda_tile.tensor_view<?xf32, strides=[1]>
    %q = "cuda_tile.make_partition_view"(%w) : (!cuda_tile.tensor_view<?xf32, strides=[1]>)
        -> !cuda_tile.partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>
    %z, %o = "cuda_tile.load_view_tko"(%q, %n) <{inbounds = array<i1: true>,
        memory_ordering_semantics = #cuda_tile.memory_ordering_semantics<weak>,
        operandSegmentSizes = array<i32: 1, 1, 0>}>
        : (!cuda_tile.partition_view<tile=(8), tensor_view<?xf32, strides=[1]>>, !cuda_tile.tile<i32>)
        -> (!cuda_tile.tile<8xf32>, !cuda_tile.token)
    %s = "cuda_tile.reduce"(%z) <{dim = 0 : i32, identities = [0.0 : f32]}> ({
    ^bb0(%a: !cuda_tile.tile<f32>, %b: !cuda_tile.tile<f32>):
      %d = addf %a, %b : tile<f32>
      "cuda_tile.yield"(%d) : (!cuda_tile.tile<f32>) -> ()
    }) : (!cuda_tile.tile<8xf32>) -> !cuda_tile.tile<f32>
    %r = "cuda_tile.for"(%n, %n, %n, %s) ({
    ^bb0(%i: !cuda_tile.tile<i32>, %k: !cuda_tile.tile<f32>):
      "cuda_tile.continue"(%k) : (!cuda_tile.tile<f32>) -> ()
    }) : (!cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<i32>, !cuda_tile.tile<f32>)
        -> !cuda_tile.tile<f32>
    "cuda_tile.if"(%c) ({
      "cuda_tile.return"() : () -> ()
    }, {
    }) : (!cuda_tile.tile<i1>) -> ()
    %e = "cuda_tile.permute"(%z) <{permutation = array<i32: 0>}> : (!cuda_tile.tile<8xf32>) -> !cuda_tile.tile<8xf32>
    "cuda_tile.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
}) : () -> ()
)";
  EXPECT_EQ(printed(generic), printed(plain));
  EXPECT_EQ(said_of("%a = \"cuda_tile.addi\"(%n) : (tile<i32>) -> tile<i32>"),
            "t:2:6: addi: expected operands (lhs, rhs), found 1 of them");
  EXPECT_EQ(said_of("%a = \"cuda_tile.addi\"(%n, %n) : (tile<i32>, tile<i64>) -> tile<i32>"),
            "t:2:33: addi: expected the types of its operands, (tile<i32>, tile<i32>)");
  EXPECT_EQ(said_of("%a = \"cuda_tile.addi\"(%n, %n) <{overflo = 1}> : (tile<i32>, tile<i32>) -> tile<i32>"),
            "t:2:33: addi: expected one of its attributes, found 'overflo'; did you mean 'overflow'?");
  EXPECT_EQ(said_of("%a, %b = \"cuda_tile.load_ptr_tko\"(%p) : (tile<ptr<f32>>) -> (tile<f32>, token)"),
            "t:2:10: load_ptr_tko: expected operandSegmentSizes, found none");
  EXPECT_EQ(said_of("\"cuda_tile.return\"() ({}) : () -> ()"), "t:2:1: return: expected 0 regions, found 1");
  EXPECT_EQ(said_of("%a = \"arith.addi\"(%n, %n) : (i32, i32) -> i32"),
            "t:2:6: expected an operation, found 'arith.addi'");
}

TEST(Reading, NamesAsMlirHasThem) {
  EXPECT_EQ(said_of("%cst_-1_i32 = constant <i32: -1> : tile<i32>\n%x.y$z = addi %cst_-1_i32, %n : tile<i32>"), "");
  EXPECT_THAT(printed("entry @\"a.b\"(%arg-0: tile<i32>) {\n}"), HasSubstr("entry @a.b("));
}

/// An operand that is not a mask is a padding. Without a mask, nothing reads the padding.
TEST(Reading, PaddingWithoutAMask) {
  const auto load = [](const std::string& operands, const std::string& types) {
    return "entry @f(%p: tile<ptr<f32>>, %x: tile<f32>) {\n%a, %t = load_ptr_tko weak %p" + operands +
           " : tile<ptr<f32>>" + types + " -> tile<f32>, token\n}";
  };
  EXPECT_EQ(printed(load(", %x", ", tile<f32>")), printed(load("", "")));
}

TEST(Reading, DeepAndLongTexts) {
  std::string deep = "entry @f() {\n%c = constant <i1: true> : tile<i1>\n";
  for (int i = 0; i < 5000; ++i) deep += "if %c {\n";
  EXPECT_THAT(said(deep), HasSubstr("expected at most 64 nested regions"));
  EXPECT_THAT(said_of("%a = constant <i32: " + std::string(100000, '[') + "> : tile<i32>"),
              HasSubstr("expected at most 16 nested lists"));
  EXPECT_THAT(said_of("%a = constant <i32: 1> : tile<4096x4096x2xi32>"),
              HasSubstr("expected a tile of at most 16777216 elements"));
}

std::string bytes_of(const std::string& name) {
  return read_file(std::filesystem::path(DEPLO_SOURCE_DIR) / "experiments" / "tile" / "exported" / name);
}

TEST(Reading, BytecodeThatIsNone) {
  std::string bytes = bytes_of("softmax.tileirbc");
  bytes[9] = 5;
  EXPECT_EQ(said(bytes),
            "t: expected bytecode of version 13.1 to 13.4, found 13.5, which adds multimem_load_reduce_view_tko, "
            "multimem_reduce_view_tko, multimem_store_view_tko: export the program with bytecode_version=\"13.4\" or "
            "older");
  bytes[9] = 0;
  EXPECT_EQ(said(bytes), "t: expected bytecode of version 13.1 to 13.4, found 13.0");
  EXPECT_THAT(said(bytes_of("softmax.tileirbc").substr(0, 200)), HasSubstr("t: byte "));
  EXPECT_THAT(said(bytes_of("softmax.tileirbc") + "x"),
              HasSubstr("expected the end of the file after its last section, found 1 bytes"));
  EXPECT_THAT(said(std::string("\x7FTileIR\0\x0D\x03\0\0", 12)),
              HasSubstr("expected a section, found the end of its part"));
}

/// Changes bits, bytes and spans, and cuts off the end.
std::string damaged(std::string bytes, Rng& rng) {
  for (std::uint64_t edits = 1 + rng.below(3); edits > 0 && !bytes.empty(); --edits) {
    const std::size_t at = rng.below(bytes.size()), size = std::min<std::size_t>(1 + rng.below(16), bytes.size() - at);
    switch (rng.below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(rng.below(256));
        break;
      case 2:
        bytes.erase(at, size);
        break;
      case 3:
        bytes.insert(at, bytes.substr(rng.below(bytes.size()), size));
        break;
      case 4:
        bytes.replace(at, size, size, rng.below(2) == 0 ? '\xFF' : '\0');
        break;  // hostile numbers
      default:
        bytes.resize(rng.below(8) == 0 ? at : bytes.size());
        break;
    }
  }
  return bytes;
}

/// Replaces a word of a text by another word of the text.
std::string swapped(std::string text, Rng& rng) {
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(" \n", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    words.emplace_back(begin, end - begin);
    at = end;
  }
  if (words.size() < 2) return text;
  const auto a = words[rng.below(words.size())], b = words[rng.below(words.size())];
  const std::string word = text.substr(b.first, b.second);
  return text.replace(a.first, a.second, word);
}

/// Reads the bytes. A program that is accepted is printed, read again, and run for some steps.
void survive(const std::string& bytes) {
  try {
    const Program program = read_program(bytes, "damaged");
    const std::string text = print(program);
    ASSERT_EQ(print(read_program(text, "printed")), text);
    for (const Entry& entry : program.entries) {
      Launcher launcher;
      launcher.launch.entry = entry.name;
      launcher.launch.steps = 1000;
      launcher.launch.memory = 64 << 20;
      for (const ValueId id : entry.parameters) {
        const Type& type = *entry.values[id].type;
        if (type.pointer && ir::bytes(type.element) != 0)
          launcher.add_pointer("p", type.element, 4096);
        else if (is_integral(type.element))
          launcher.scalar(type.element == DType::boolean ? std::int64_t{1} : std::int64_t{8});
        else
          launcher.scalar(1.0);
      }
      try {
        launcher.run(program, {2, 1, 1});
      } catch (const Error&) {  // errors in its computation are no fault of the reader
      }
    }
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

TEST(Reading, SurvivesDamage) {
  const std::filesystem::path root(DEPLO_SOURCE_DIR);
  std::vector<std::string> files;
  for (const auto& folder : {root / "experiments" / "tile" / "exported", root / "experiments" / "tile"})
    for (const auto& file : std::filesystem::directory_iterator(folder))
      if (file.is_regular_file() && file.path().extension() != ".py") files.push_back(read_file(file.path()));
  ASSERT_GT(files.size(), 16U);
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    const std::string& file = files[rng.below(files.size())];
    survive(!is_bytecode(file) && rng.below(2) == 0 ? swapped(file, rng) : damaged(file, rng));
  }
}

}  // namespace
}  // namespace deplo::ir::tile_program
