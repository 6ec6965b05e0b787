#include "ir/tile_program/verify/checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deplo::ir::tile_program::checks {
namespace {

const Type& operand(const Operation& op, const Context& in, std::string_view name) { return in.type(op.operand(name)); }
const Type& result(const Operation& op, const Context& in, std::size_t at = 0) { return in.type(op.results.at(at)); }

bool is_half(DType e) { return e == DType::f16 || e == DType::bf16; }

std::string types_of(const std::vector<ValueId>& ids, const Context& in) {
  std::string text;
  for (const ValueId id : ids) text += (text.empty() ? "" : ", ") + print(in.type(id));
  return text.empty() ? "none" : text;
}

/// Returns "" if the values have the types of the wanted values, one by one.
std::string match_types(const std::vector<ValueId>& values, const std::vector<ValueId>& wanted, const Context& in,
                        std::string_view what) {
  const auto same = [&](ValueId a, ValueId b) { return in.type(a) == in.type(b); };
  if (std::equal(values.begin(), values.end(), wanted.begin(), wanted.end(), same)) return "";
  if (wanted.empty()) return fmt::format("expected no {}, found {}", what, types_of(values, in));
  return fmt::format("expected {} of {}, found {}", what, types_of(wanted, in), types_of(values, in));
}

/// Returns the `for` or `loop` around an operation, or nullptr if there is none. An `if` may be in between.
const Operation* enclosing_loop(const Context& in) {
  for (auto at = in.enclosing.rbegin(); at != in.enclosing.rend(); ++at) {
    if ((*at)->form->regions == 1 && (*at)->form->name != "reduce" && (*at)->form->name != "scan") return *at;
    if ((*at)->form->name != "if") return nullptr;
  }
  return nullptr;
}

bool is_view_or_tensor(const Type& t) { return t.kind != Kind::token && t.kind != Kind::tile; }

std::string carried(const Operation& op, const Context& in, std::size_t first_argument,
                    const std::vector<ValueId>& init) {
  const auto& arguments = op.regions.at(0).arguments;
  const std::vector<ValueId> carried_arguments(
      arguments.begin() + static_cast<std::ptrdiff_t>(std::min(first_argument, arguments.size())), arguments.end());
  if (arguments.size() < first_argument)
    return fmt::format("expected {} arguments of its region, found {}", first_argument, arguments.size());
  for (const ValueId id : init)
    if (is_view_or_tensor(in.type(id)))
      return "expected carried values that are tiles or tokens, found " + print(in.type(id));
  return match_types(carried_arguments, init, in, "arguments of its region");
}

/// Checks the indices of a tile that is read or written through a view.
std::string view_indices(const Operation& op, const Context& in, const Type& view) {
  const std::vector<ValueId> index = op.operand_list("index");
  if (index.size() != view.tile.size())
    return fmt::format("expected {} indices, found {}", view.tile.size(), index.size());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const Type& type = in.type(index[i]);
    const bool sparse = view.kind == Kind::gather_scatter_view && static_cast<int>(i) == view.sparse_dim;
    if (!sparse && !type.shape.empty()) return fmt::format("expected index {} of rank 0, found {}", i, print(type));
    if (sparse && type.shape != Extents{view.tile[i]})
      return fmt::format("expected index {} of {} numbers, found {}", i, view.tile[i], print(type));
  }
  return "";
}

/// Checks the length of `inbounds`, by which the program promises for each dimension that no tile reaches beyond the
/// tensor.
std::string inbounds(const Operation& op, const Type& view) {
  const auto* promised = std::get_if<std::vector<std::int64_t>>(&op.attribute("inbounds"));
  if (promised == nullptr || promised->size() == view.tile.size()) return "";
  return fmt::format("expected inbounds for {} dimensions, found it for {}", view.tile.size(), promised->size());
}

std::string view_tile(const Type& view, const Type& tile) {
  if (tile.element == view.element && !tile.pointer && tile.shape == view.tile) return "";
  return fmt::format("expected a tile<{}x{}> for the view, found {}", print(view.tile), tile_name(view.element),
                     print(tile));
}

/// Checks that a weak access has no memory scope, and any other access has one.
std::string scope(const Operation& op) {
  const bool weak = op.number("memory_ordering_semantics") == 0;
  if (weak == op.given("memory_scope"))
    return weak ? "expected no memory scope for a weak access, found one"
                : "expected a memory scope (tl_blk, device or sys), found none";
  return "";
}

std::string pointer_to(const Type& pointers, const Type& values) {
  if (!values.pointer && pointers.element == values.element && pointers.shape == values.shape) return "";
  return fmt::format("expected values of the pointers' type, found {} and {}", print(pointers), print(values));
}

std::string in_memory(const Type& t) {
  return bytes(t.element) != 0
             ? ""
             : fmt::format("expected elements of whole bytes, found {}, which deplo cannot keep in memory",
                           tile_name(t.element));
}

std::string first_of(std::initializer_list<std::string> reasons) {
  for (const std::string& why : reasons)
    if (!why.empty()) return why;
  return "";
}

/// Checks that an atomic operation supports the element type.
std::string rmw_type(Rmw mode, DType e) {
  const bool integer = e == DType::i32 || e == DType::i64, floating = e == DType::f32 || e == DType::f64;
  const bool fits = mode == Rmw::addf ? floating || is_half(e) : mode == Rmw::xchg ? integer || floating : integer;
  if (fits) return "";
  return fmt::format("expected {}, found {}",
                     mode == Rmw::addf   ? "f16, bf16, f32 or f64 to be added by addf"
                     : mode == Rmw::xchg ? "i32, i64, f32 or f64 to be exchanged"
                     : mode == Rmw::add  ? "i32 or i64 to be added by add, as addf adds floats"
                                         : "i32 or i64",
                     tile_name(e));
}

std::string matrices(const Type& a, const Type& b, const Type& c) {
  const std::size_t rank = c.shape.size();
  const bool ranks = (rank == 2 || rank == 3) && a.shape.size() == rank && b.shape.size() == rank;
  const auto at = [rank](const Type& t, std::size_t from_end) { return t.shape[rank - from_end]; };
  if (ranks && at(a, 2) == at(c, 2) && at(b, 1) == at(c, 1) && at(a, 1) == at(b, 2) &&
      (rank == 2 || (a.shape[0] == c.shape[0] && b.shape[0] == c.shape[0])))
    return "";
  return fmt::format("expected matrices of M x K, K x N and M x N, found {}, {} and {}", print(a.shape), print(b.shape),
                     print(c.shape));
}

std::string flush(const Operation& op, DType e) {
  if (op.number("flush_to_zero") == 0 || e == DType::f32) return "";
  return fmt::format("expected flush_to_zero only for f32, found it for {}", tile_name(e));
}

std::string count_results(const Operation& op, std::size_t wanted) {
  return op.results.size() == wanted ? "" : fmt::format("expected {} results, found {}", wanted, op.results.size());
}

// The part lies at an index, in extents of the part, of the whole.
std::string part_of(const Operation& op, const Type& part, const Type& whole) {
  const std::size_t indices = op.operand_list("indices").size();
  if (indices != whole.shape.size()) return fmt::format("expected {} indices, found {}", whole.shape.size(), indices);
  bool fits = part.element == whole.element && part.pointer == whole.pointer && part.shape.size() == whole.shape.size();
  for (std::size_t i = 0; fits && i < whole.shape.size(); ++i) fits = whole.shape[i] % part.shape[i] == 0;
  return fits ? "" : fmt::format("expected a part that divides {}, found {}", print(whole), print(part));
}

bool has_attribute(const Operation& op, std::string_view name) {
  return std::ranges::any_of(op.form->attributes, [&](const auto& a) { return a.name == name; });
}

/// Checks the attributes and the body of a reduce or scan. The body must take a pair of numbers for each operand.
std::string body(const Operation& op, const Context& in) {
  const auto operands = op.operand_list("operands");
  if (operands.empty()) return "expected at least one operand, found none";
  const auto& shape = in.type(operands[0]).shape;
  const auto& identities = std::get<std::vector<Scalar>>(op.attribute("identities"));
  const std::int64_t dim = op.number("dim");
  if (dim < 0 || static_cast<std::size_t>(dim) >= shape.size())
    return fmt::format("expected a dim below {}, found {}", shape.size(), dim);
  if (identities.size() != operands.size())
    return fmt::format("expected {} identities, found {}", operands.size(), identities.size());
  const auto& arguments = op.regions.at(0).arguments;
  if (arguments.size() != 2 * operands.size())
    return fmt::format("expected {} arguments of its region, found {}", 2 * operands.size(), arguments.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Type& type = in.type(operands[i]);
    if (type.shape != shape)
      return fmt::format("expected operands of one shape, found {} and {}", print(shape), print(type.shape));
    if (identities[i].element != type.element || type.pointer)
      return fmt::format("expected identity {} to be of {}, found {}", i,
                         print(*with_element({.kind = Kind::tile}, type.element, type.pointer)),
                         tile_name(identities[i].element));
    for (const std::size_t k : {2 * i, 2 * i + 1})
      if (!in.type(arguments[k]).is_scalar() || in.type(arguments[k]).element != type.element ||
          in.type(arguments[k]).pointer)
        return fmt::format("expected argument {} to be tile<{}>, found {}", k, tile_name(type.element),
                           print(in.type(arguments[k])));
  }
  return "";
}

}  // namespace

std::string allocate(const Operation& op, const Context& in) {
  const std::int64_t alignment = op.number("alignment"), elements = op.number("num_elem");
  if (alignment <= 0 || (alignment & (alignment - 1)) != 0)
    return fmt::format("expected an alignment that is a power of two, found {}", alignment);
  if (elements < 0 || elements > max_elements)
    return fmt::format("expected 0 to {} elements, found {}", max_elements, elements);
  return in_memory(result(op, in));
}

std::string assume(const Operation& op, const Context& in) {
  const auto& p = std::get<Predicate>(op.attribute("predicate"));
  const Type& type = operand(op, in, "value");
  const bool integers = type.is_tile() && !type.pointer && is_integral(type.element);
  switch (p.kind) {
    case Predicate::Kind::div_by:
      if (p.divisor == 0 || (p.divisor & (p.divisor - 1)) != 0)
        return fmt::format("expected a divisor that is a power of two, found {}", p.divisor);
      if (p.every.has_value() != p.along.has_value()) return "expected every and along together, found one of them";
      if (p.every &&
          (*p.every <= 0 || *p.along < 0 || static_cast<std::size_t>(*p.along) >= type.shape.size() || !type.is_tile()))
        return "expected every above 0 along a dimension of a tile, found another";
      if (integers || (type.is_tile() && type.pointer) || type.kind == Kind::tensor_view) return "";
      return "expected a tile of integers or pointers or a tensor view, found " + print(type);
    case Predicate::Kind::same_elements:
      if (!integers && !(type.is_tile() && type.pointer))
        return "expected a tile of integers or pointers, found " + print(type);
      if (p.groups.size() != type.shape.size())
        return fmt::format("expected {} extents of groups, found {}", type.shape.size(), p.groups.size());
      return std::all_of(p.groups.begin(), p.groups.end(), [](std::int64_t g) { return g > 0; })
                 ? ""
                 : "expected extents of groups above 0, found others";
    case Predicate::Kind::bounded:
      if (!integers) return "expected a tile of integers, found " + print(type);
      if (p.low && p.high && *p.low > *p.high)
        return fmt::format("expected bounds in order, found {} and {}", *p.low, *p.high);
      return "";
  }
  return "";
}

std::string atomic_cas(const Operation& op, const Context& in) {
  const Type& type = operand(op, in, "val");
  const bool fits = type.element == DType::i32 || type.element == DType::i64 || type.element == DType::f32 ||
                    type.element == DType::f64;
  return first_of({pointer_to(operand(op, in, "pointers"), type),
                   fits ? "" : "expected i32, i64, f32 or f64, found " + print(type)});
}

std::string atomic_rmw(const Operation& op, const Context& in) {
  const Type& type = operand(op, in, "arg");
  return first_of(
      {pointer_to(operand(op, in, "pointers"), type), rmw_type(static_cast<Rmw>(op.number("mode")), type.element)});
}

std::string atomic_red_view(const Operation& op, const Context& in) {
  const Type& view = operand(op, in, "view");
  if (view.kind == Kind::gather_scatter_view || view.padding)
    return "expected a partition_view or strided_view without padding, found " + print(view);
  return first_of({view_indices(op, in, view), view_tile(view, operand(op, in, "value")),
                   rmw_type(static_cast<Rmw>(op.number("mode")), view.element)});
}

std::string bitcast(const Operation& op, const Context& in) {
  const Type &from = operand(op, in, "source"), &to = result(op, in);
  return width(from.element) == width(to.element)
             ? ""
             : fmt::format("expected types with the same number of bits, found {} and {}", print(from), print(to));
}

std::string broadcast(const Operation& op, const Context& in) {
  const Type &from = operand(op, in, "source"), &to = result(op, in);
  bool fits = from.element == to.element && from.pointer == to.pointer && from.shape.size() == to.shape.size();
  for (std::size_t i = 0; fits && i < to.shape.size(); ++i) fits = from.shape[i] == to.shape[i] || from.shape[i] == 1;
  return fits ? "" : fmt::format("expected only extents of 1 to be broadcast, found {} to {}", print(from), print(to));
}

std::string cat(const Operation& op, const Context& in) {
  const Type &a = operand(op, in, "lhs"), &b = operand(op, in, "rhs"), &c = result(op, in);
  const std::int64_t dim = op.number("dim");
  if (dim < 0 || static_cast<std::size_t>(dim) >= c.shape.size())
    return fmt::format("expected a dim below {}, found {}", c.shape.size(), dim);
  bool fits = a.shape.size() == c.shape.size() && b.shape.size() == c.shape.size() && a.element == c.element &&
              b.element == c.element && a.pointer == c.pointer && b.pointer == c.pointer;
  for (std::size_t i = 0; fits && i < c.shape.size(); ++i)
    fits = static_cast<std::int64_t>(i) == dim ? a.shape[i] + b.shape[i] == c.shape[i]
                                               : a.shape[i] == c.shape[i] && b.shape[i] == c.shape[i];
  return fits ? ""
              : fmt::format("expected tiles that concatenate to {}, found {} and {}", print(c), print(a), print(b));
}

std::string constant(const Operation& op, const Context& in) {
  const auto& value = std::get<Dense>(op.attribute("value"));
  const std::int64_t elements = element_count(result(op, in));
  if (value->size() == 1 || static_cast<std::int64_t>(value->size()) == elements) return "";
  return fmt::format("expected 1 or {} elements, found {}", elements, value->size());
}

std::string divi(const Operation& op, const Context& in) {
  const bool is_unsigned = op.number("signedness") == 0;
  if (is_unsigned && op.number("rounding") == static_cast<std::int64_t>(Rounding::negative_inf))
    return "expected rounding to zero or positive_inf for unsigned numbers, found negative_inf";
  return in.constant(op.operand("rhs")) == 0 ? "expected a divisor other than 0, found the constant 0" : "";
}

std::string extract(const Operation& op, const Context& in) {
  return part_of(op, result(op, in), operand(op, in, "source"));
}

std::string f32_only_flush(const Operation& op, const Context& in) { return flush(op, result(op, in).element); }

std::string float_rounding(const Operation& op, const Context& in) {
  const DType e = result(op, in).element;
  const auto rounding = static_cast<Rounding>(op.number("rounding_mode"));
  const bool any_full = op.form->name == "exp" || op.form->name == "tanh";
  if (e != DType::f32 && (rounding == Rounding::approx || (rounding == Rounding::full && !any_full)))
    return fmt::format("expected rounding approx and full only for f32, found {} for {}",
                       enumeration("rounding").words[static_cast<std::size_t>(rounding)], tile_name(e));
  return has_attribute(op, "flush_to_zero") ? flush(op, e) : "";
}

std::string ftof(const Operation& op, const Context& in) {
  const DType from = operand(op, in, "from").element, to = result(op, in).element;
  if (from == to) return fmt::format("expected a type other than {}", tile_name(from));
  const auto rounding = static_cast<Rounding>(op.number("rounding_mode"));
  const bool to_exponents = to == DType::f8e8m0fnu;
  const bool fits = to_exponents ? rounding == Rounding::zero || rounding == Rounding::positive_inf
                                 : rounding == Rounding::nearest_even;
  return fits ? ""
              : fmt::format("expected rounding {} to {}, found {}",
                            to_exponents ? "zero or positive_inf" : "nearest_even", tile_name(to),
                            enumeration("rounding").words[static_cast<std::size_t>(rounding)]);
}

std::string for_loop(const Operation& op, const Context& in) {
  const auto init = op.operand_list("init");
  const auto step = op.operand("step");
  const auto value = in.constant(step);
  if (value && *value <= 0 && op.number("unsigned") == 0)
    return fmt::format("expected a step above 0, found {}, which is the constant {}{}", in.name(step), *value,
                       *value == 0 ? ": the loop would never end" : "");
  const auto& arguments = op.regions.at(0).arguments;
  const Type& bound = operand(op, in, "lower");
  if (arguments.empty() || in.type(arguments[0]) != bound)
    return fmt::format("expected a counter of {}, the type of the bounds, found {}", print(bound),
                       arguments.empty() ? "none" : print(in.type(arguments[0])));
  return first_of({carried(op, in, 1, init), match_types(op.results, init, in, "results")});
}

std::string get_global(const Operation& op, const Context& in) {
  const auto& wanted = std::get<std::string>(op.attribute("name"));
  for (const Global& global : in.program.globals)
    if (global.name == wanted)
      return global.type->element == result(op, in).element
                 ? ""
                 : fmt::format("expected a pointer to {}, found {}", tile_name(global.type->element),
                               print(result(op, in)));
  return fmt::format("expected the name of a global, found @{}", wanted);
}

std::string if_else(const Operation& op, const Context& in) {
  for (const ValueId id : op.results)
    if (is_view_or_tensor(in.type(id))) return "expected results that are tiles or tokens, found " + print(in.type(id));
  if (!op.regions.at(0).arguments.empty() || !op.regions.at(1).arguments.empty())
    return "expected regions without arguments, found some";
  return !op.results.empty() && op.regions[1].operations.empty() ? "expected an else for its results, found none" : "";
}

std::string index_space(const Operation& op, const Context& in) {
  return count_results(op, operand(op, in, "src").tile.size());
}

std::string insert(const Operation& op, const Context& in) {
  return part_of(op, operand(op, in, "source"), operand(op, in, "destination"));
}

std::string iota(const Operation& op, const Context& in) {
  const Type& type = result(op, in);
  if (type.shape.size() != 1) return "expected a tile of rank 1, found " + print(type);
  const int bits = width(type.element);
  return bits >= 32 || type.shape[0] <= (std::int64_t{1} << bits)
             ? ""
             : fmt::format("expected numbers that {} holds, found {} of them", tile_name(type.element), type.shape[0]);
}

std::string leaves_loop(const Operation& op, const Context& in) {
  const Operation* loop = enclosing_loop(in);
  const bool is_break = op.form->name == "break";
  if (loop == nullptr || (is_break && loop->form->name == "for"))
    return fmt::format("expected a {} around it, found none", is_break ? "loop" : "for or loop");
  if (is_break) return match_types(op.operands, loop->results, in, "values");
  const auto& arguments = loop->regions[0].arguments;
  const std::size_t skip = loop->form->name == "for" ? 1 : 0;
  return match_types(
      op.operands, {arguments.begin() + static_cast<std::ptrdiff_t>(std::min(skip, arguments.size())), arguments.end()},
      in, "values");
}

std::string load_pointer(const Operation& op, const Context& in) {
  const Type &pointers = operand(op, in, "source"), &loaded = result(op, in);
  if (op.has("padding") && operand(op, in, "padding") != loaded)
    return fmt::format("expected a padding of {}, found {}", print(loaded), print(operand(op, in, "padding")));
  return first_of({pointer_to(pointers, loaded), in_memory(loaded), scope(op)});
}

std::string load_view(const Operation& op, const Context& in) {
  const Type& view = operand(op, in, "view");
  return first_of(
      {view_indices(op, in, view), view_tile(view, result(op, in)), in_memory(view), scope(op), inbounds(op, view)});
}

std::string loop(const Operation& op, const Context& in) { return carried(op, in, 0, op.operand_list("init")); }

std::string make_tensor_view(const Operation& op, const Context& in) {
  const Type &base = operand(op, in, "base"), &view = result(op, in);
  if (base.element != view.element)
    return fmt::format("expected a pointer to {}, found {}", tile_name(view.element), print(base));
  const auto count = [](const Extents& e) { return static_cast<std::size_t>(std::count(e.begin(), e.end(), dynamic)); };
  for (const auto& [list, extents, what] :
       {std::tuple("shape", &view.shape, "extents"), std::tuple("strides", &view.strides, "strides")})
    if (op.operand_list(list).size() != count(*extents))
      return fmt::format("expected {} dynamic {}, found {}", count(*extents), what, op.operand_list(list).size());
  return "";
}

std::string make_view(const Operation& op, const Context& in) {
  const Type &tensor = operand(op, in, "tensor_view"), &view = result(op, in);
  if (tensor.element == view.element && tensor.shape == view.shape && tensor.strides == view.strides) return "";
  return fmt::format("expected a view of {}, found {}", print(tensor), print(view));
}

std::string mmaf(const Operation& op, const Context& in) {
  const Type &a = operand(op, in, "lhs"), &b = operand(op, in, "rhs"), &c = operand(op, in, "acc");
  if (a.element != b.element || b.pointer)
    return fmt::format("expected factors of one type, found {} and {}", print(a), print(b));
  const bool eight = a.element == DType::f8e4m3fn || a.element == DType::f8e5m2;
  const bool fits = a.element == DType::f64 ? c.element == DType::f64
                    : a.element == DType::f16 || eight
                        ? c.element == DType::f16 || c.element == DType::f32
                        : (a.element == DType::bf16 || a.element == DType::tf32 || a.element == DType::f32) &&
                              c.element == DType::f32;
  return fits ? matrices(a, b, c)
              : fmt::format("expected types that can be multiplied and added, found {} and {}", tile_name(a.element),
                            tile_name(c.element));
}

std::string mmaf_scaled(const Operation& op, const Context& in) {
  const Type &a = operand(op, in, "lhs"), &b = operand(op, in, "rhs"), &c = operand(op, in, "acc");
  const Type &sa = operand(op, in, "lhs_scale"), &sb = operand(op, in, "rhs_scale");
  if (std::string why = matrices(a, b, c); !why.empty()) return why;
  const bool small = a.element == DType::f4e2m1fn, eight = a.element == DType::f8e4m3fn || a.element == DType::f8e5m2;
  const bool scales = sa.element == DType::f8e8m0fnu ? small || eight : sa.element == DType::f8e4m3fn && small;
  if (a.element != b.element || sa.element != sb.element || !scales)
    return fmt::format("expected 8-bit or 4-bit factors and their scales, found {} and {}", print(a), print(sa));
  const std::size_t rank = c.shape.size();
  if (sa.shape.size() != rank || sb.shape.size() != rank) return "expected scales of the factors' rank, found others";
  const std::int64_t k = a.shape[rank - 1], groups = sa.shape[rank - 1];
  const bool shapes = k % groups == 0 && sa.shape[rank - 2] == a.shape[rank - 2] && sb.shape[rank - 2] == groups &&
                      sb.shape[rank - 1] == b.shape[rank - 1] &&
                      (rank == 2 || (sa.shape[0] == a.shape[0] && sb.shape[0] == b.shape[0]));
  return shapes
             ? ""
             : fmt::format("expected scales of M x K/V and K/V x N, found {} and {}", print(sa.shape), print(sb.shape));
}

std::string mmai(const Operation& op, const Context& in) {
  return matrices(operand(op, in, "lhs"), operand(op, in, "rhs"), operand(op, in, "acc"));
}

std::string offset(const Operation& op, const Context& in) {
  const Type &from = operand(op, in, "ptr"), &to = result(op, in);
  return from == to ? in_memory(from) : fmt::format("expected {} of its pointers, found {}", print(from), print(to));
}

namespace {
std::string packed(const Type& numbers, const Type& octets) {
  const std::int64_t bits = element_count(numbers) * (numbers.element == DType::boolean ? 0 : width(numbers.element));
  const bool fits = numbers.shape.size() == 1 && octets.shape.size() == 1 && !numbers.pointer &&
                    width(numbers.element) != 8 && numbers.element != DType::tf32 && bits == 8 * element_count(octets);
  return fits ? ""
              : fmt::format(
                    "expected rank 1, equal sizes in bytes and one type that is not 8 bits wide, found {} and {}",
                    print(numbers), print(octets));
}
}  // namespace

std::string pack(const Operation& op, const Context& in) { return packed(operand(op, in, "source"), result(op, in)); }
std::string unpack(const Operation& op, const Context& in) { return packed(result(op, in), operand(op, in, "source")); }

std::string permute(const Operation& op, const Context& in) {
  const Type &from = operand(op, in, "source"), &to = result(op, in);
  const auto& map = std::get<std::vector<std::int64_t>>(op.attribute("permutation"));
  const auto rank = static_cast<std::int64_t>(from.shape.size());
  std::vector<std::int64_t> sorted = map;
  std::sort(sorted.begin(), sorted.end());
  bool fits = static_cast<std::int64_t>(map.size()) == rank;
  for (std::int64_t i = 0; fits && i < rank; ++i) fits = sorted[static_cast<std::size_t>(i)] == i;
  if (!fits) return fmt::format("expected a permutation of {} dimensions, found [{}]", rank, fmt::join(map, ", "));
  fits = from.element == to.element && from.pointer == to.pointer && to.shape.size() == from.shape.size();
  for (std::size_t i = 0; fits && i < map.size(); ++i)
    fits = to.shape[i] == from.shape[static_cast<std::size_t>(map[i])];
  return fits ? ""
              : fmt::format("expected {} permuted by [{}], found {}", print(from), fmt::join(map, ", "), print(to));
}

std::string prints(const Operation& op, const Context&) {
  const auto& text = std::get<std::string>(op.attribute("str"));
  std::size_t values = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (i + 1 < text.size() && text[i + 1] == '%')
      ++i;
    else
      ++values;
  }
  const std::size_t given = op.operand_list("args").size();
  return values == given ? "" : fmt::format("expected {} values for the % of its text, found {}", values, given);
}

std::string reduce(const Operation& op, const Context& in) {
  if (std::string why = body(op, in); !why.empty()) return why;
  const auto operands = op.operand_list("operands");
  if (std::string why = count_results(op, operands.size()); !why.empty()) return why;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Type wanted = in.type(operands[i]);
    wanted.shape.erase(wanted.shape.begin() + op.number("dim"));
    if (result(op, in, i) != wanted)
      return fmt::format("expected a result of {}, found {}", print(wanted), print(result(op, in, i)));
  }
  return "";
}

std::string scan(const Operation& op, const Context& in) {
  return first_of({body(op, in), match_types(op.results, op.operand_list("operands"), in, "results")});
}

std::string reshape(const Operation& op, const Context& in) {
  const Type &from = operand(op, in, "source"), &to = result(op, in);
  const bool fits =
      from.element == to.element && from.pointer == to.pointer && element_count(from) == element_count(to);
  return fits ? ""
              : fmt::format("expected the same number of elements of the same type, found {} and {}", print(from),
                            print(to));
}

std::string returns(const Operation& op, const Context& in) {
  if (!op.operands.empty()) return "expected an entry to return no values, found some";
  const bool inside = std::ranges::any_of(in.enclosing, [](const Operation* o) { return o->form->name != "if"; });
  return inside ? "expected an entry or an if around it, found another" : "";
}

std::string store_pointer(const Operation& op, const Context& in) {
  const Type& value = operand(op, in, "value");
  return first_of({pointer_to(operand(op, in, "destination"), value), in_memory(value), scope(op)});
}

std::string store_view(const Operation& op, const Context& in) {
  const Type& view = operand(op, in, "view");
  return first_of({view_indices(op, in, view), view_tile(view, operand(op, in, "tile")), in_memory(view), scope(op),
                   inbounds(op, view)});
}

std::string tensor_shape(const Operation& op, const Context& in) {
  return count_results(op, operand(op, in, "src").shape.size());
}

std::string widen(const Operation& op, const Context& in) {
  const Type &from = operand(op, in, "from"), &to = result(op, in);
  return width(from.element) < width(to.element)
             ? ""
             : fmt::format("expected a wider type than {}, found {}", tile_name(from.element), tile_name(to.element));
}

std::string narrow(const Operation& op, const Context& in) {
  const Type &from = operand(op, in, "from"), &to = result(op, in);
  return width(from.element) > width(to.element) ? ""
                                                 : fmt::format("expected a narrower type than {}, found {}",
                                                               tile_name(from.element), tile_name(to.element));
}

std::string yields(const Operation& op, const Context& in) {
  const Operation* owner = in.enclosing.empty() ? nullptr : in.enclosing.back();
  if (owner == nullptr || owner->form->name == "for" || owner->form->name == "loop")
    return "expected an if, reduce or scan around it, found none";
  if (owner->form->name == "if") return match_types(op.operands, owner->results, in, "values");
  std::vector<ValueId> accumulators;  // the second argument of each pair
  for (std::size_t i = 1; i < owner->regions[0].arguments.size(); i += 2)
    accumulators.push_back(owner->regions[0].arguments[i]);
  return match_types(op.operands, accumulators, in, "values");
}

}  // namespace deplo::ir::tile_program::checks
