// The table of operations (NVIDIA/cuda-tile: Ops.td and BytecodeOpcodes.td; specification, "Operations").
//
// The operands and results of a row are lists of `name: class`. `name?` may be absent, and `name*` stands for any
// number of values:
//   lhs: float, rhs: lhs, mask?: i1 as lhs
// The class says which elements the tile may have. `scalar` before the class requires a tile of rank 0. Instead of a
// class, the name of an earlier value requires the type of that value; `as NAME` after the class requires only its
// shape. Attributes are `name: kind`, with the allowed words and the default:
//   ordering: memory_ordering(weak|relaxed) = weak
// The suffix `since 13.2` gives the version that added a part. Operands, attributes and results are in the order of the
// bytecode.
//
// The text of an operation consists of words, `$operand`, `@attribute` and `:value`, which stands for the type of the
// value. `:*value` is one type for all values of a list, and `:+value` is one type for all or one for each. A part in
// `{ }` is omitted if its operand or attribute is absent. `#NAME` stands for a text that has its own function.
#include "ir/tile_program/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.h"
#include "core/mapped.h"
#include "ir/tile_program/verify/checks.h"

namespace deplo::ir::tile_program {
namespace {

struct Row {
  std::string_view name;
  std::uint32_t opcode = 0;
  std::string_view operands = {}, attributes = {}, results = {}, text = {};
  Check check = nullptr;
  Version since = {13, 1};
  int regions = 0;
  bool terminator = false;
  std::string_view refused = {};
};

constexpr Version v13_1 = {13, 1}, v13_2 = {13, 2}, v13_3 = {13, 3}, v13_4 = {13, 4}, v13_5 = {13, 5};

// Fragments that many rows share.
constexpr std::string_view one_float = "source: float", two_floats = "lhs: float, rhs: lhs", one_int = "source: int",
                           two_ints = "lhs: int, rhs: lhs", like_source = "result: source", like_lhs = "result: lhs";
constexpr std::string_view unary_text = "$source : :result", binary_text = "$lhs , $rhs : :result",
                           cast_text = "$source : :source -> :result";
constexpr std::string_view ieee =
    "rounding_mode: rounding(nearest_even|zero|negative_inf|positive_inf) = nearest_even, "
    "flush_to_zero: flag";
constexpr std::string_view ieee_text = "$lhs , $rhs { rounding < @rounding_mode > } { flush_to_zero } : :result";
constexpr std::string_view overflow = "overflow: overflow = none", signedness = "signedness: signedness";
constexpr std::string_view overflow_text = "$lhs , $rhs { overflow < @overflow > } : :result",
                           signedness_text = "$lhs , $rhs @signedness : :result";
constexpr std::string_view jump_operands = "operands*: any", jump_text = "{ $operands : :operands }";
constexpr std::string_view loads =
    "memory_ordering_semantics: memory_ordering(weak|relaxed|acquire), memory_scope?: "
    "memory_scope, optimization_hints?: hints";
constexpr std::string_view stores =
    "memory_ordering_semantics: memory_ordering(weak|relaxed|release), memory_scope?: "
    "memory_scope, optimization_hints?: hints";
constexpr std::string_view view_loads =
    "memory_ordering_semantics: memory_ordering(weak|relaxed|acquire), memory_scope?: "
    "memory_scope, optimization_hints?: hints, inbounds: booleans since 13.4";
constexpr std::string_view view_stores =
    "memory_ordering_semantics: memory_ordering(weak|relaxed|release), memory_scope?: "
    "memory_scope, optimization_hints?: hints, inbounds: booleans since 13.4";
constexpr std::string_view atomics =
    "memory_ordering_semantics: memory_ordering(relaxed|acquire|release|acq_rel), "
    "memory_scope: memory_scope";
constexpr std::string_view block_triple = "x: scalar i32, y: x, z: x";
constexpr std::string_view nan_and_flush = "propagate_nan: flag, flush_to_zero: flag";
constexpr std::string_view nan_and_flush_text = "$lhs , $rhs { flush_to_zero } { propagate_nan } : :result";
constexpr std::string_view newer = "is of version 13.5; deplo reads 13.1 to 13.4";

const std::vector<Row>& rows() {
  namespace c = checks;
  static const std::vector<Row> table = {
      {"absf", 0x00, one_float, "", like_source, unary_text},
      {"absi", 0x01, one_int, "", like_source, unary_text},
      {"addf", 0x02, two_floats, ieee, like_lhs, ieee_text, c::float_rounding},
      {"addi", 0x03, two_ints, overflow, like_lhs, overflow_text},
      {"alloca", 0x71, "", "num_elem: integer, alignment: integer, global: flag", "result: scalar ptr",
       "num_elem = @num_elem , alignment = @alignment { global } : :result", c::allocate, v13_3},
      {"andi", 0x04, two_ints, "", like_lhs, binary_text},
      {"assert", 0x05, "condition: i1", "message: string", "", "$condition , @message : :condition"},
      {"assume", 0x06, "value: any", "predicate: predicate", "result: value", "@predicate , $value : :value",
       c::assume},
      {"atan2", 0x6E, "x: float, y: x", "", "result: x", "$x , $y : :result", nullptr, v13_2},
      {"atomic_cas_tko", 0x07, "pointers: ptr, cmp: tile as pointers, val: cmp, mask?: i1 as pointers, token?: token",
       atomics, "result: cmp, result_token: token",
       "@memory_ordering_semantics @memory_scope $pointers , $cmp , $val { , $mask } { token = $token } : :pointers , "
       ":val { , :mask } -> :result , :result_token",
       c::atomic_cas},
      {"atomic_red_view_tko", 0x75, "view: tile_view, index*: int, value: tile, token?: token",
       "memory_ordering_semantics: memory_ordering(relaxed), memory_scope: memory_scope(tl_blk|device), mode: "
       "rmw_mode(and|or|xor|add|addf|max|min|umax|umin)",
       "result_token: token",
       "@memory_ordering_semantics @memory_scope $view [ $index ] , @mode , $value { token = $token } : :value , :view "
       "{ , "
       ":+index } -> :result_token",
       c::atomic_red_view, v13_3},
      {"atomic_rmw_tko", 0x08, "pointers: ptr, arg: tile as pointers, mask?: i1 as pointers, token?: token",
       "memory_ordering_semantics: memory_ordering(relaxed|acquire|release|acq_rel), memory_scope: memory_scope, mode: "
       "rmw_mode",
       "result: arg, result_token: token",
       "@memory_ordering_semantics @memory_scope $pointers , @mode , $arg { , $mask } { token = $token } : :pointers , "
       ":arg { , :mask } -> :result , :result_token",
       c::atomic_rmw},
      {"bitcast", 0x09, "source: number", "", "result: number as source", cast_text, c::bitcast},
      {"break", 0x0A, jump_operands, "", "", jump_text, c::leaves_loop, v13_1, 0, true},
      {"broadcast", 0x0B, "source: tile", "", "result: tile", cast_text, c::broadcast},
      {"cat", 0x0C, "lhs: tile, rhs: tile", "dim: integer", "result: tile",
       "$lhs , $rhs dim = @dim : :lhs , :rhs -> :result", c::cat},
      {"ceil", 0x0D, one_float, "", like_source, unary_text},
      {"cmpf", 0x0E, two_floats, "comparison_predicate: comparison, comparison_ordering: comparison_ordering",
       "result: i1 as lhs", "@comparison_predicate @comparison_ordering $lhs , $rhs : :lhs { -> :result }"},
      {"cmpi", 0x0F, two_ints, "comparison_predicate: comparison, signedness: signedness", "result: i1 as lhs",
       "@comparison_predicate $lhs , $rhs , @signedness : :lhs { -> :result }"},
      {"constant", 0x10, "", "value: dense", "result: number", "@value : :result", c::constant},
      {"continue", 0x11, jump_operands, "", "", jump_text, c::leaves_loop, v13_1, 0, true},
      {"cos", 0x12, one_float, "", like_source, unary_text},
      {"cosh", 0x13, one_float, "", like_source, unary_text},
      {"divf", 0x14, two_floats,
       "rounding_mode: rounding(nearest_even|zero|negative_inf|positive_inf|approx|full) = nearest_even, "
       "flush_to_zero: "
       "flag",
       like_lhs, ieee_text, c::float_rounding},
      {"divi", 0x15, two_ints, "signedness: signedness, rounding: rounding(zero|negative_inf|positive_inf) = zero",
       like_lhs, "$lhs , $rhs @signedness { rounding < @rounding > } : :result", c::divi},
      {"entry", 0x16, "", "", "", "", nullptr, v13_1, 0, false, "belongs in a module, not in an entry"},
      {"exp", 0x17, one_float, "rounding_mode: rounding(approx|full) = full since 13.3", like_source,
       "$source { rounding < @rounding_mode > } : :result", c::float_rounding},
      {"exp2", 0x18, one_float, "flush_to_zero: flag", like_source, "$source { flush_to_zero } : :result",
       c::f32_only_flush},
      {"exti", 0x25, "from: int4", signedness, "to: int4 as from", "$from @signedness : :from -> :to", c::widen},
      {"extract", 0x26, "source: tile, indices*: scalar i32", "", "result: tile",
       "$source [ $indices ] : :source -> :result", c::extract},
      {"floor", 0x27, one_float, "", like_source, unary_text},
      {"fma", 0x28, "lhs: float, rhs: lhs, acc: lhs", ieee, like_lhs,
       "$lhs , $rhs , $acc { rounding < @rounding_mode > } { flush_to_zero } : :result", c::float_rounding},
      {"for", 0x29, "lower: scalar int, upper: lower, step: lower, init*: any", "unsigned: flag since 13.2",
       "results*: any", "#for", c::for_loop, v13_1, 1},
      {"fpowi", 0x79, "source: float, exponent: int as source", "", like_source,
       "$source , $exponent : :source , :exponent", nullptr, v13_4},
      {"ftof", 0x2A, "from: any_float",
       "rounding_mode: rounding(nearest_even|zero|negative_inf|positive_inf) = nearest_even", "to: any_float as from",
       "$from { rounding < @rounding_mode > } : :from -> :to", c::ftof},
      {"ftoi", 0x2B, "from: any_float",
       "saturating: flag since 13.4, signedness: signedness, rounding_mode: rounding(nearest_int_to_zero) = "
       "nearest_int_to_zero",
       "to: int as from", "$from @signedness { rounding < @rounding_mode > } { saturating } : :from -> :to"},
      {"gdc_launch_dependents_tko", 0x77, "token?: token", "", "result_token: token",
       "{ token = $token } -> :result_token", nullptr, v13_4},
      {"gdc_wait_tko", 0x78, "token?: token", "", "result_token: token", "{ token = $token } -> :result_token", nullptr,
       v13_4},
      {"get_global", 0x2C, "", "name: symbol", "result: scalar ptr", "@name : :result", c::get_global},
      {"get_index_space_shape", 0x2D, "src: tile_view", "", "result*: scalar int", "$src : :src -> :*result",
       c::index_space},
      {"get_num_tile_blocks", 0x2E, "", "", block_triple, ": :x"},
      {"get_tensor_shape", 0x2F, "src: tensor_view", "", "result*: scalar int", "$src : :src -> :*result",
       c::tensor_shape},
      {"get_tile_block_id", 0x30, "", "", block_triple, ": :x"},
      {"global", 0x31, "", "", "", "", nullptr, v13_1, 0, false, "belongs in a module, not in an entry"},
      {"if", 0x32, "condition: scalar i1", "", "results*: any", "#if", c::if_else, v13_1, 2},
      {"insert", 0x76, "source: tile, destination: tile, indices*: scalar i32", "", "result: destination",
       "$source , $destination [ $indices ] : :source , :destination", c::insert, v13_4},
      {"int_to_ptr", 0x33, "source: i64", "", "result: ptr as source", cast_text},
      {"iota", 0x3A, "", "", "result: int", ": :result", c::iota},
      {"itof", 0x3B, "from: int",
       "signedness: signedness, rounding_mode: rounding(nearest_even|zero|negative_inf|positive_inf) = nearest_even",
       "to: any_float as from", "$from @signedness { rounding < @rounding_mode > } : :from -> :to"},
      {"join_tokens", 0x3C, "tokens*: token", "", "result: token", "$tokens : :result"},
      {"load_ptr_tko", 0x3D, "source: ptr, mask?: i1 as source, padding?: number as source, token?: token", loads,
       "result: tile as source, result_token: token",
       "@memory_ordering_semantics { @memory_scope } $source { , $mask } { , $padding } { token = $token } { "
       "optimization_hints = @optimization_hints } : :source { , :mask } { , :padding } -> :result , :result_token",
       c::load_pointer},
      {"load_view_tko", 0x3E, "view: tile_view, index*: int, token?: token", view_loads,
       "tile: tile, result_token: token",
       "@memory_ordering_semantics { @memory_scope } $view [ $index ] { token = $token } { optimization_hints = "
       "@optimization_hints } { inbounds = @inbounds } : :view { , :+index } -> :tile , :result_token",
       c::load_view},
      {"log", 0x3F, one_float, "", like_source, unary_text},
      {"log2", 0x40, one_float, "", like_source, unary_text},
      {"loop", 0x41, "init*: any", "", "results*: any", "#loop", c::loop, v13_1, 1},
      {"make_gather_scatter_view", 0x73, "tensor_view: tensor_view", "", "result: gather_scatter_view",
       "$tensor_view : :result", c::make_view, v13_3},
      {"make_partition_view", 0x42, "tensor_view: tensor_view", "", "result: partition_view", "$tensor_view : :result",
       c::make_view},
      {"make_strided_view", 0x74, "tensor_view: tensor_view", "", "result: strided_view", "$tensor_view : :result",
       c::make_view, v13_3},
      {"make_tensor_view", 0x43, "base: scalar ptr, shape*: scalar int, strides*: scalar int", "",
       "result: tensor_view", "#make_tensor_view", c::make_tensor_view},
      {"make_token", 0x44, "", "", "result: token", ": :result"},
      {"maxf", 0x45, two_floats, nan_and_flush, like_lhs, nan_and_flush_text, c::f32_only_flush},
      {"maxi", 0x46, two_ints, signedness, like_lhs, signedness_text},
      {"memory_fence_alias_tko", 0x7A, "token: token", "", "result_token: token", "$token", nullptr, v13_4},
      {"minf", 0x47, two_floats, nan_and_flush, like_lhs, nan_and_flush_text, c::f32_only_flush},
      {"mini", 0x48, two_ints, signedness, like_lhs, signedness_text},
      {"mmaf", 0x49, "lhs: any_float, rhs: tile, acc: float", "fast_acc: flag since 13.3", "result: acc",
       "$lhs , $rhs , $acc { fast_acc } : :lhs , :rhs , :acc", c::mmaf},
      {"mmaf_scaled", 0x72, "lhs: any_float, rhs: tile, acc: f32, lhs_scale: any_float, rhs_scale: tile", "",
       "result: acc", "$lhs , $rhs , $acc , $lhs_scale , $rhs_scale : :lhs , :rhs , :acc , :lhs_scale , :rhs_scale",
       c::mmaf_scaled, v13_3},
      {"mmai", 0x4A, "lhs: i8, rhs: i8, acc: i32", "signedness_lhs: signedness, signedness_rhs: signedness",
       "result: acc", "$lhs , $rhs , $acc @signedness_lhs @signedness_rhs : :lhs , :rhs , :acc", c::mmai},
      {"module", 0x4B, "", "", "", "", nullptr, v13_1, 0, false, "contains entries and cannot be in one"},
      {"mulf", 0x4C, two_floats, ieee, like_lhs, ieee_text, c::float_rounding},
      {"mulhii", 0x4D, "x: int, y: x", "", "result: x", "$x , $y : :result"},
      {"muli", 0x4E, two_ints, overflow, like_lhs, overflow_text},
      {"multimem_load_reduce_view_tko", 0x7B, "", "", "", "", nullptr, v13_5, 0, false, newer},
      {"multimem_reduce_view_tko", 0x7C, "", "", "", "", nullptr, v13_5, 0, false, newer},
      {"multimem_store_view_tko", 0x7D, "", "", "", "", nullptr, v13_5, 0, false, newer},
      {"negf", 0x4F, one_float, "", like_source, unary_text},
      {"negi", 0x50, one_int, "overflow: overflow = none since 13.2", like_source,
       "$source { overflow < @overflow > } : :result"},
      {"offset", 0x51, "ptr: ptr, offset: int as ptr", "", "result: ptr", "$ptr , $offset : :ptr , :offset -> :result",
       c::offset},
      {"ori", 0x52, two_ints, "", like_lhs, binary_text},
      {"pack", 0x6F, "source: tile", "", "result: i8", cast_text, c::pack, v13_3},
      {"permute", 0x53, "source: tile", "permutation: integers", "result: tile",
       "$source @permutation : :source -> :result", c::permute},
      {"pow", 0x54, "source: float, exponent: source", "", like_source, "$source , $exponent : :result"},
      {"print_tko", 0x55, "args*: tile, token?: token since 13.2", "str: string", "result_token?: token since 13.2",
       "@str { , $args } { token = $token } { : :args } { -> :result_token }", c::prints},
      {"ptr_to_int", 0x56, "source: ptr", "", "result: i64 as source", cast_text},
      {"ptr_to_ptr", 0x57, "source: ptr", "", "result: ptr as source", cast_text},
      {"reduce", 0x58, "operands*: tile", "dim: integer, identities: scalars", "results*: tile",
       "$operands dim = @dim identities = @identities : :operands -> :results #body", c::reduce, v13_1, 1},
      {"remf", 0x59, two_floats, "", like_lhs, binary_text},
      {"remi", 0x5A, two_ints, signedness, like_lhs, signedness_text},
      {"reshape", 0x5B, "source: tile", "", "result: tile", cast_text, c::reshape},
      {"return", 0x5C, jump_operands, "", "", jump_text, c::returns, v13_1, 0, true},
      {"rsqrt", 0x5D, one_float, "flush_to_zero: flag", like_source, "$source { flush_to_zero } : :result",
       c::f32_only_flush},
      {"scan", 0x5E, "operands*: tile", "dim: integer, reverse: boolean, identities: scalars", "results*: tile",
       "$operands dim = @dim reverse = @reverse identities = @identities : :operands -> :results #body", c::scan, v13_1,
       1},
      {"select", 0x5F, "cond: i1, val_if_true: tile as cond, val_if_false: val_if_true", "", "result: val_if_true",
       "$cond , $val_if_true , $val_if_false : :cond , :result"},
      {"shli", 0x60, two_ints, overflow, like_lhs, overflow_text},
      {"shri", 0x61, two_ints, signedness, like_lhs, signedness_text},
      {"sin", 0x62, one_float, "", like_source, unary_text},
      {"sinh", 0x63, one_float, "", like_source, unary_text},
      {"sqrt", 0x64, one_float,
       "rounding_mode: rounding(nearest_even|zero|negative_inf|positive_inf|approx) = nearest_even, flush_to_zero: "
       "flag",
       like_source, "$source { rounding < @rounding_mode > } { flush_to_zero } : :result", c::float_rounding},
      {"store_ptr_tko", 0x65, "destination: ptr, value: tile as destination, mask?: i1 as destination, token?: token",
       stores, "result_token: token",
       "@memory_ordering_semantics { @memory_scope } $destination , $value { , $mask } { token = $token } { "
       "optimization_hints = @optimization_hints } : :destination , :value { , :mask } -> :result_token",
       c::store_pointer},
      {"store_view_tko", 0x66, "tile: tile, view: tile_view, index*: int, token?: token", view_stores,
       "result_token: token",
       "@memory_ordering_semantics { @memory_scope } $tile , $view [ $index ] { token = $token } { optimization_hints "
       "= @optimization_hints } { inbounds = @inbounds } : :tile , :view { , :+index } -> :result_token",
       c::store_view},
      {"subf", 0x67, two_floats, ieee, like_lhs, ieee_text, c::float_rounding},
      {"subi", 0x68, two_ints, overflow, like_lhs, overflow_text},
      {"tan", 0x69, one_float, "", like_source, unary_text},
      {"tanh", 0x6A, one_float, "rounding_mode: rounding(approx|full) = full since 13.2", like_source,
       "$source { rounding < @rounding_mode > } : :result", c::float_rounding},
      {"trunci", 0x6B, "from: int4", overflow, "to: int4 as from", "$from { overflow < @overflow > } : :from -> :to",
       c::narrow},
      {"unpack", 0x70, "source: i8", "", "result: tile", cast_text, c::unpack, v13_3},
      {"xori", 0x6C, two_ints, "", like_lhs, binary_text},
      {"yield", 0x6D, jump_operands, "", "", jump_text, c::yields, v13_1, 0, true},
  };
  return table;
}

const std::vector<Enumeration>& enumerations() {
  static const std::vector<Enumeration> all = {
      {"rounding",
       {"nearest_even", "zero", "negative_inf", "positive_inf", "approx", "full", "nearest_int_to_zero",
        "nearest_away"}},
      {"signedness", {"unsigned", "signed"}},
      {"overflow", {"none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"}},
      {"comparison",
       {"equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"}},
      {"comparison_ordering", {"unordered", "ordered"}},
      {"memory_ordering", {"weak", "relaxed", "acquire", "release", "acq_rel"}},
      {"memory_scope", {"tl_blk", "device", "sys"}},
      {"rmw_mode", {"and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"}},
  };
  return all;
}

// --- Reading a row ---------------------------------------------------------------------------------------------------

std::vector<std::string_view> split(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + by.size());
  }
  return parts;
}

/// Removes `mark…` from the end and returns the part after `mark`, or "" if `mark` does not occur.
std::string_view take_tail(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return "";
  const std::string_view tail = text.substr(at + mark.size());
  text = text.substr(0, at);
  return tail;
}

Version read_since(std::string_view& text, Version row) {
  const std::string_view tail = take_tail(text, " since 13.");
  return tail.empty() ? row : Version{13, tail[0] - '0'};
}

struct ClassRow {
  Class types;
  std::string_view word, description;
};
constexpr std::array classes = {
    ClassRow{Class::any, "any", "value"},
    ClassRow{Class::token, "token", "token"},
    ClassRow{Class::tile, "tile", "tile"},
    ClassRow{Class::number, "number", "tile of numbers"},
    ClassRow{Class::integer, "int", "tile of integers"},
    ClassRow{Class::integer_or_i4, "int4", "tile of integers"},
    ClassRow{Class::base_float, "float", "tile of f16, bf16, f32 or f64"},
    ClassRow{Class::any_float, "any_float", "tile of floats"},
    ClassRow{Class::pointer, "ptr", "tile of pointers"},
    ClassRow{Class::tensor_view, "tensor_view", "tensor_view"},
    ClassRow{Class::partition_view, "partition_view", "partition_view"},
    ClassRow{Class::strided_view, "strided_view", "strided_view"},
    ClassRow{Class::gather_scatter_view, "gather_scatter_view", "gather_scatter_view"},
    ClassRow{Class::tile_view, "tile_view", "partition_view, strided_view or gather_scatter_view"},
};

int find_value(const Form& form, std::string_view name) {
  for (std::size_t i = 0; i < form.operands.size() + form.results.size(); ++i)
    if (form.value(static_cast<int>(i)).name == name) return static_cast<int>(i);
  return -1;
}

void read_class(ValueForm& value, std::string_view word, const Form& form) {
  if (const auto element = parse_tile_dtype(word)) {
    value.types = Class::element;
    value.element = *element;
    return;
  }
  if (const auto row = std::ranges::find(classes, word, &ClassRow::word); row != classes.end()) {
    value.types = row->types;
    return;
  }
  value.same_as = find_value(form, word);
  CHECK(value.same_as >= 0);
}

void read_values(std::string_view text, Form& form, std::vector<ValueForm>& into) {
  for (std::string_view item : split(text, ", ")) {
    ValueForm value;
    value.since = read_since(item, form.since);
    const std::string_view other = take_tail(item, " as ");
    if (!other.empty()) value.shape_of = find_value(form, other);
    std::string_view types = take_tail(item, ": ");
    if (types.starts_with("scalar ")) {
      value.scalar = true;
      types.remove_prefix(7);
    }
    value.arity = item.ends_with('?') ? Arity::optional : item.ends_with('*') ? Arity::variadic : Arity::one;
    if (value.arity != Arity::one) item.remove_suffix(1);
    value.name = item;
    read_class(value, types, form);
    into.push_back(value);
  }
}

std::int64_t find_word(const Enumeration& words, std::string_view word) {
  const auto at = std::find(words.words.begin(), words.words.end(), word);
  CHECK(at != words.words.end());
  return at - words.words.begin();
}

constexpr std::array<std::pair<std::string_view, AttributeKind>, 11> attribute_kinds = {{
    {"flag", AttributeKind::flag},
    {"integer", AttributeKind::integer},
    {"boolean", AttributeKind::boolean},
    {"string", AttributeKind::string},
    {"symbol", AttributeKind::symbol},
    {"integers", AttributeKind::integers},
    {"booleans", AttributeKind::booleans},
    {"dense", AttributeKind::dense},
    {"predicate", AttributeKind::predicate},
    {"scalars", AttributeKind::scalars},
    {"hints", AttributeKind::hints},
}};

void read_attributes(std::string_view text, Form& form) {
  for (std::string_view item : split(text, ", ")) {
    AttributeForm attribute;
    attribute.since = read_since(item, form.since);
    const std::string_view otherwise = take_tail(item, " = ");
    std::string_view kind = take_tail(item, ": ");
    std::string_view allowed = take_tail(kind, "(");
    attribute.optional = item.ends_with('?');
    if (attribute.optional) item.remove_suffix(1);
    attribute.name = item;
    const auto* plain = std::ranges::find_if(attribute_kinds, [&](const auto& k) { return k.first == kind; });
    if (plain != attribute_kinds.end()) {
      attribute.kind = plain->second;
    } else {
      attribute.kind = AttributeKind::enumeration;
      attribute.words = &enumeration(kind);
      if (!allowed.empty()) allowed.remove_suffix(1);
      for (const std::string_view word : split(allowed, "|"))
        attribute.allowed.push_back(find_word(*attribute.words, word));
      if (!otherwise.empty()) attribute.otherwise = find_word(*attribute.words, otherwise);
    }
    form.attributes.push_back(attribute);
  }
}

TextItem read_item(std::string_view word, const Form& form) {
  TextItem item;
  item.word = word;
  if (word.size() < 2 || word == "->") return item;
  const std::string_view name = word.substr(word.find_first_not_of("$@:*+#"));
  item.word = name;
  switch (word[0]) {
    case '$':
      item.kind = TextItem::Kind::operand;
      break;
    case '@':
      item.kind = TextItem::Kind::attribute;
      break;
    case '#':
      item.kind = TextItem::Kind::regions;
      break;
    case ':':
      item.kind = word[1] == '*'   ? TextItem::Kind::one_type
                  : word[1] == '+' ? TextItem::Kind::any_types
                                   : TextItem::Kind::type;
      break;
    default:
      item.word = word;
      return item;
  }
  item.index = item.kind == TextItem::Kind::attribute ? form.find_attribute(name) : find_value(form, name);
  CHECK(item.index >= 0 || item.kind == TextItem::Kind::regions);
  return item;
}

void read_text(std::string_view text, Form& form) {
  if (text.starts_with('#')) {
    form.special = text.substr(1);
    return;
  }
  std::vector<TextItem>* into = &form.text;
  for (const std::string_view word : split(text, " ")) {
    if (word == "{") {
      form.text.push_back({TextItem::Kind::group, "", -1, {}});
      into = &form.text.back().items;
    } else if (word == "}") {
      into = &form.text;
    } else {
      into->push_back(read_item(word, form));
    }
  }
}

Form read_row(const Row& row) {
  Form form;
  form.name = row.name;
  if (row.name == "print_tko") form.other_name = "print";  // its name in 13.1
  form.opcode = row.opcode;
  form.since = row.since;
  form.regions = row.regions;
  form.terminator = row.terminator;
  form.refused = row.refused;
  form.check = row.check;
  read_values(row.operands, form, form.operands);
  read_attributes(row.attributes, form);
  read_values(row.results, form, form.results);
  read_text(row.text, form);
  return form;
}

bool is_variadic(const ValueForm& v) { return v.arity == Arity::variadic; }

}  // namespace

std::string print(Version v) { return fmt::format("{}.{}", v.major, v.minor); }

std::string_view description(Class types) {
  const auto row = std::ranges::find(classes, types, &ClassRow::types);
  return row == classes.end() ? "tile" : row->description;  // of Class::element
}

const Enumeration& enumeration(std::string_view name) {
  const auto& all = enumerations();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Enumeration& e) { return e.name == name; });
  CHECK(at != all.end());
  return *at;
}

bool Form::has_segments() const {
  const auto is_optional = [](const ValueForm& v) { return v.arity == Arity::optional; };
  return std::ranges::any_of(operands, is_optional) || std::ranges::count_if(operands, is_variadic) > 1;
}

bool Form::has_counted_operands() const { return !has_segments() && std::ranges::any_of(operands, is_variadic); }

bool Form::has_counted_results() const {
  const auto varies = [](const ValueForm& v) { return v.arity != Arity::one; };
  return std::ranges::any_of(operands, is_variadic) || std::ranges::any_of(results, varies);
}

int Form::find_operand(std::string_view operand) const {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].name == operand) return static_cast<int>(i);
  CHECK(operand.empty());  // fails for a name that the row does not have
  return -1;
}

int Form::find_attribute(std::string_view attribute) const {
  for (std::size_t i = 0; i < attributes.size(); ++i)
    if (attributes[i].name == attribute) return static_cast<int>(i);
  CHECK(attribute.empty());
  return -1;
}

const ValueForm& Form::value(int index) const {
  const auto at = static_cast<std::size_t>(index);
  return at < operands.size() ? operands[at] : results.at(at - operands.size());
}

const std::vector<Form>& operations() {
  static const std::vector<Form> forms = mapped(rows(), read_row);
  return forms;
}

const Form* find_operation(std::string_view name) {
  if (name.starts_with("cuda_tile.")) name.remove_prefix(10);
  for (const Form& form : operations())
    if (form.name == name || (!form.other_name.empty() && form.other_name == name)) return &form;
  return nullptr;
}

const Form* find_opcode(std::uint64_t opcode) {
  for (const Form& form : operations())
    if (form.opcode == opcode) return &form;
  return nullptr;
}

}  // namespace deplo::ir::tile_program
