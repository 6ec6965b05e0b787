// Loads, stores and atomics. A thread accesses the elements that it has of a tile; of one element, the first thread for
// all where another block may write meanwhile.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <limits>

#include "ir/emit/tile_program/emitter.h"
#include "ir/emit/tile_program/integers.h"
#include "ir/emit/tile_program/rows.h"
#include "ir/emit/tile_program/shapes.h"
#include "ir/tile_program/attribute.h"

namespace deplo::ir::tile_program::blocks {
namespace {

/// Order among blocks: what a release leaves behind it all threads have written, what an acquire learns all of them see.
class Strength {
 public:
  Strength(Emitter& e, const Operation& op)
      : e_(e), ordering_(static_cast<Ordering>(op.number("memory_ordering_semantics"))) {
    if (op.given("memory_scope")) scope_ = static_cast<Scope>(op.number("memory_scope"));
  }
  bool is_weak() const { return ordering_ == Ordering::weak; }
  bool is_system() const { return scope_ == Scope::sys; }
  std::string_view qualifier() const { return is_weak() ? "" : "volatile "; }

  /// Ends what came before; what the operation does itself comes behind (Emitter::order).
  void before() const {
    if (ordering_ != Ordering::release && ordering_ != Ordering::acq_rel) return;
    fence();
    e_.barrier();
  }
  void after() const {
    if (ordering_ != Ordering::acquire && ordering_ != Ordering::acq_rel) return;
    // The thread that has read needs the fence (PTX ISA, "Acquire Pattern"). The barrier passes on what it learned.
    fence();
    e_.barrier();
  }

 private:
  void fence() const {
    e_.print("fence_{}();", scope_ == Scope::tl_blk ? "block" : scope_ == Scope::device ? "device" : "system");
  }
  Emitter& e_;
  Ordering ordering_;
  Scope scope_ = Scope::device;
};

std::string in_memory(const Emitter& e, const std::string& address, DType element, bool pointer,
                      std::string_view qualifier) {
  return fmt::format("*({}{}{}*)({})", e.words.global, qualifier, memory_type(element, pointer), address);
}

/// An element of a tile of an operation: its address, whether there is one, and what stands for one that is not there.
struct Place {
  std::string address, condition, otherwise;  // condition "": always
};
using PlaceOf = std::function<Place(const At&)>;

void guarded(Emitter& e, const std::string& condition, const std::function<void()>& body) {
  if (condition.empty())
    body();
  else
    e.within("if (" + condition + ")", body);
}

// --- Where elements lie --------------------------------------------------------------------------------------------------

std::string zero(const Type& t) { return t.pointer || is_integral(t.element) ? "0" : literal(0, t.element); }

/// Through pointers, under a mask.
PlaceOf through_pointers(Emitter& e, const Operation& op, ValueId pointers, const Type& loaded) {
  return [&e, &op, pointers, &loaded](const At& at) {
    Place place{e.element(pointers, at), "", zero(loaded)};
    if (op.has("mask")) place.condition = e.element(op.operand("mask"), at) + " != 0";
    return place;
  };
}

/// Through a view: inside of its tensor. What of a tile's place is one for all its elements is worked out here.
PlaceOf through_view(Emitter& e, const Operation& op) {
  const ValueId id = op.operand("view");
  const Type& t = e.type(id);
  const View& view = e.view(id);
  const bool gathers = t.kind == Kind::gather_scatter_view;
  const std::vector<ValueId> index = op.operand_list("index");
  std::vector<std::string> starts;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const bool sparse = gathers && static_cast<int>(d) == t.sparse_dim;
    const std::int64_t step = gathers ? 1 : t.kind == Kind::strided_view ? t.traversal[d] : t.tile[d];
    starts.push_back(sparse ? "" : e.named("i64", fmt::format("(i64)(u64){} * {}", e.scalar(index[d]), step)));
  }
  return [&e, &t, &view, gathers, index, starts](const At& at) {
    Place place;
    std::string offset;
    for (std::size_t d = 0; d < t.tile.size(); ++d) {
      const std::size_t of = gathers ? d : static_cast<std::size_t>(t.dim_map[d]);
      const std::string within = coordinate(at.i, t.tile, d);
      const std::string position =
          starts[d].empty() ? e.named("i64", "(i64)(u64)" + e.element(index[d], {e.named("u32", within), ""}))
                            : e.named("i64", fmt::format("{} + (i64)({})", starts[d], within));
      place.condition += fmt::format("{}(u64){} < (u64){}", d == 0 ? "" : " && ", position, view.shape[of]);
      offset += fmt::format("{}{} * {}", d == 0 ? "" : " + ", position, view.strides[of]);
    }
    place.address = fmt::format("{} + (u64)({}) * {}u", view.base, offset, bytes(t.element));
    return place;
  };
}

std::string padding(const Type& view) {
  const DType e = view.element;
  const Padding kind = view.padding.value_or(Padding::zero);
  if (is_integral(e) || kind == Padding::zero) return zero(view);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double value = kind == Padding::neg_zero  ? -0.0
                       : kind == Padding::pos_inf ? infinity
                       : kind == Padding::neg_inf ? -infinity
                                                  : std::numeric_limits<double>::quiet_NaN();
  return literal(encode_float(value, e), e);
}

// --- Loads and stores ----------------------------------------------------------------------------------------------------

/// DType by element; of one element once, by the first thread, where threads might see different numbers.
void load(Emitter& e, const Operation& op, const PlaceOf& place_of) {
  const ValueId result = op.results[0];
  const Type& t = e.type(result);
  const Strength strength(e, op);
  const auto load_at = [&](const At& at) {
    const Place place = place_of(at);
    if (!place.condition.empty()) e.set(result, at, place.otherwise);
    guarded(e, place.condition, [&] {
      e.set(result, at,
            from_memory(in_memory(e, place.address, t.element, t.pointer, strength.qualifier()), t.element, t.pointer));
    });
  };
  e.declare(result);
  if (!e.is_scalar(result)) {
    e.each(element_count(t), load_at);
  } else if (strength.is_weak() || e.threads == 1) {
    load_at(only);
  } else {
    e.once(result, [&] { load_at(only); });
  }
  strength.after();
}

void load_pointers(Emitter& e, const Operation& op) {
  e.order(op, e.arrays_behind(op.operands[0]));
  const PlaceOf plain = through_pointers(e, op, op.operands[0], e.result_type(op));
  load(e, op, [&](const At& at) {
    Place place = plain(at);
    if (op.has("padding")) place.otherwise = e.element(op.operand("padding"), at);
    return place;
  });
}

void load_view(Emitter& e, const Operation& op) {
  e.order(op, e.arrays_behind(op.operand("view")));
  const PlaceOf plain = through_view(e, op);
  load(e, op, [&](const At& at) {
    Place place = plain(at);
    place.otherwise = padding(e.type(op.operand("view")));
    return place;
  });
}

void store(Emitter& e, const Operation& op, ValueId value, const PlaceOf& place_of) {
  const Type& t = e.type(value);
  const Strength strength(e, op);
  const auto store_at = [&](const At& at) {
    const Place place = place_of(at);
    guarded(e, place.condition, [&] {
      e.print("{} = {};", in_memory(e, place.address, t.element, t.pointer, strength.qualifier()),
              to_memory(e.element(value, at), t.element, t.pointer));
    });
  };
  e.for_elements(value, store_at);
}

void store_pointers(Emitter& e, const Operation& op) {
  Strength(e, op).before();
  e.order(op, {}, e.arrays_behind(op.operands[0]));
  store(e, op, op.operands[1], through_pointers(e, op, op.operands[0], e.type(op.operands[1])));
}

void store_view(Emitter& e, const Operation& op) {
  Strength(e, op).before();
  e.order(op, {}, e.arrays_behind(op.operand("view")));
  store(e, op, op.operand("tile"), through_view(e, op));
}

// --- Atomics -------------------------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 10> rmw_names = {"and", "or",  "xor",  "add",  "addf",
                                                        "max", "min", "umax", "umin", "xchg"};

/// What an update leaves in memory, of values `before` and `x`.
std::string changed(const Emitter& e, Rmw mode, DType element) {
  const std::string number = integer_type(width(element), true);
  switch (mode) {
    case Rmw::band:
      return "before & x";
    case Rmw::bor:
      return "before | x";
    case Rmw::bxor:
      return "before ^ x";
    case Rmw::add:
      return "before + x";
    case Rmw::addf:
      return rounded(!e.cuda()               ? "before + x"
                     : element == DType::f64 ? "__dadd_rn(before, x)"
                                             : "__fadd_rn(before, x)",
                     element);
    case Rmw::max:
      return fmt::format("({0})before > ({0})x ? before : x", number);
    case Rmw::min:
      return fmt::format("({0})before < ({0})x ? before : x", number);
    case Rmw::umax:
      return "before > x ? before : x";
    case Rmw::umin:
      return "before < x ? before : x";
    case Rmw::xchg:
      return "x";
  }
  return "x";
}

/// The language's own, of the bits: "" where it has none. OpenCL 1.2 has those of 64 bits in an extension.
std::string builtin(const Emitter& e, Rmw mode, DType element, bool system) {
  const bool is_signed = mode == Rmw::max || mode == Rmw::min;
  const bool wide = width(element) == 64;
  std::string_view name = mode == Rmw::umax   ? "max"
                          : mode == Rmw::umin ? "min"
                                              : rmw_names[static_cast<std::size_t>(mode)];
  const std::string type = integer_type(width(element), is_signed);
  if (e.cuda()) {
    if (mode == Rmw::addf && width(element) < 32) return "";
    static constexpr std::array<std::string_view, 10> names = {"And", "Or",  "Xor", "Add", "Add",
                                                               "Max", "Min", "Max", "Min", "Exch"};
    const std::string pointed = mode == Rmw::addf ? value_type(element) : type;
    return fmt::format("atomic{}{}(({}*)at, ", names[static_cast<std::size_t>(mode)], system ? "_system" : "", pointed);
  }
  if (mode == Rmw::addf || (wide && mode != Rmw::add && mode != Rmw::xchg)) return "";
  return fmt::format("{}_{}((__global volatile {}*)at, ", wide ? "atom" : "atomic", name, type);
}

/// The function that updates an element at an address and returns what was there.
std::string update_function(Emitter& e, Rmw mode, DType element, bool system) {
  const std::string name = fmt::format("update_{}_{}{}", rmw_names[static_cast<std::size_t>(mode)], tile_name(element),
                                       system ? "_system" : "");
  const std::string type = value_type(element), own = builtin(e, mode, element, system);
  std::string text = fmt::format("{}{} {}(u64 at, {} x) {{\n", e.words.function, type, name, type);
  if (!own.empty()) {
    const bool of_bits_alone = mode == Rmw::xchg && !is_integral(element);
    const std::string argument = of_bits_alone ? bits_of("x", element) : "x";
    const std::string old = own + argument + ")";
    text += fmt::format("  return {};\n}}\n", of_bits_alone ? of_bits(old, element) : old);
  } else {
    // Of 16 bits, the half of a word that they lie in.
    const int w = width(element), word = std::max(w, 32);
    const std::string bits = fmt::format("u{}", word);
    const std::string seen = w < 32 ? "(u16)(seen >> shift)" : "seen";
    const std::string now = bits_of("now", element);
    if (w < 32) text += "  const u32 shift = (u32)(at & 2u) * 8u;\n";
    text += fmt::format(
        "  {0}volatile {1}* const word = ({0}volatile {1}*)(at{2});\n"
        "  {1} seen = *word, expected;\n  {3} before;\n"
        "  do {{\n    expected = seen;\n    before = {4};\n    const {3} now = {5};\n"
        "    seen = swap_if_{1}(word, expected, {6});\n  }} while (seen != expected);\n  return before;\n}}\n",
        e.words.global, bits, w < 32 ? " & ~(u64)2" : "", type, of_bits(seen, element), changed(e, mode, element),
        w < 32 ? fmt::format("(seen & ~(0xffffu << shift)) | (u32){} << shift", now) : now);
  }
  e.function(name, text);
  return name;
}

/// One element is updated once, by the first thread, and all get what was there.
void update(Emitter& e, const Operation& op, const std::function<void(const At&)>& update_at) {
  const ValueId result = op.results[0];
  const Strength strength(e, op);
  const Resources memory = e.arrays_behind(op.operands[0]);
  strength.before();
  e.order(op, memory, memory);
  e.declare(result);
  if (!e.is_scalar(result))
    e.each(element_count(e.type(result)), update_at);
  else
    e.once(result, [&] { update_at(only); });
  strength.after();
}

void atomic_rmw(Emitter& e, const Operation& op) {
  const auto mode = static_cast<Rmw>(op.number("mode"));
  const Type& t = e.result_type(op);
  const std::string function = update_function(e, mode, t.element, Strength(e, op).is_system());
  const PlaceOf place_of = through_pointers(e, op, op.operands[0], t);
  update(e, op, [&](const At& at) {
    const Place place = place_of(at);
    if (!place.condition.empty()) e.set(op.results[0], at, place.otherwise);
    guarded(e, place.condition, [&] {
      e.set(op.results[0], at, fmt::format("{}({}, {})", function, place.address, e.element(op.operands[1], at)));
    });
  });
}

void atomic_cas(Emitter& e, const Operation& op) {
  const Type& t = e.result_type(op);
  const std::string bits = integer_type(width(t.element), false);
  const PlaceOf place_of = through_pointers(e, op, op.operands[0], t);
  update(e, op, [&](const At& at) {
    const Place place = place_of(at);
    const std::string expected = e.element(op.operands[1], at), value = e.element(op.operands[2], at);
    if (!place.condition.empty()) e.set(op.results[0], at, expected);
    guarded(e, place.condition, [&] {
      e.set(op.results[0], at,
            of_bits(fmt::format("swap_if_{}(({}volatile {}*)({}), {}, {})", bits, e.words.global, bits, place.address,
                                bits_of(expected, t.element), bits_of(value, t.element)),
                    t.element));
    });
  });
}

void atomic_red_view(Emitter& e, const Operation& op) {
  const auto mode = static_cast<Rmw>(op.number("mode"));
  const ValueId value = op.operand("value");
  const Resources memory = e.arrays_behind(op.operand("view"));
  e.order(op, memory, memory);
  const std::string function = update_function(e, mode, e.type(value).element, Strength(e, op).is_system());
  const PlaceOf place_of = through_view(e, op);
  e.for_elements(value, [&](const At& at) {
    const Place place = place_of(at);
    guarded(e, place.condition, [&] { e.print("{}({}, {});", function, place.address, e.element(value, at)); });
  });
}

// --- Views ---------------------------------------------------------------------------------------------------------------

void make_tensor_view(Emitter& e, const Operation& op) {
  const Type& t = e.result_type(op);
  View view{.base = e.scalar(op.operand("base")), .shape = {}, .strides = {}};
  for (const auto& [extents, name, into] :
       {std::tuple(&t.shape, "shape", &view.shape), std::tuple(&t.strides, "strides", &view.strides)}) {
    const std::vector<ValueId> values = op.operand_list(name);
    std::size_t next = 0;
    for (const std::int64_t extent : *extents) {
      if (extent != dynamic) {
        into->push_back(fmt::format("{}l", extent));
        continue;
      }
      const ValueId id = values[next++];
      into->push_back(e.named("i64", "(i64)" + extended(e.scalar(id), width(e.type(id).element), true)));
    }
  }
  e.bind(op.results[0], std::move(view));
}

void make_view(Emitter& e, const Operation& op) { e.bind(op.results[0], e.view(op.operands[0])); }

void tensor_shape(Emitter& e, const Operation& op) {
  for (std::size_t d = 0; d < op.results.size(); ++d) {
    const std::string type = value_type(e.result_type(op, d).element);
    e.bind(op.results[d], e.named(type, fmt::format("({}){}", type, e.view(op.operands[0]).shape[d])));
  }
}

/// How many tiles there are along each dimension; of a gather view, elements.
void index_space(Emitter& e, const Operation& op) {
  const Type& t = e.type(op.operands[0]);
  for (std::size_t d = 0; d < op.results.size(); ++d) {
    const bool gathers = t.kind == Kind::gather_scatter_view;
    const std::string& extent = e.view(op.operands[0]).shape[gathers ? d : static_cast<std::size_t>(t.dim_map[d])];
    const std::int64_t step = gathers ? 1 : t.kind == Kind::strided_view ? t.traversal[d] : t.tile[d];
    const std::string type = value_type(e.result_type(op, d).element);
    e.bind(op.results[d], e.named(type, fmt::format("({})(({} + {}) / {})", type, extent, step - 1, step)));
  }
}

}  // namespace

std::vector<Row> memory_rows() {
  return {{.name = "atomic_cas_tko", .statement = atomic_cas},
          {.name = "atomic_red_view_tko", .statement = atomic_red_view},
          {.name = "atomic_rmw_tko", .statement = atomic_rmw},
          {.name = "load_ptr_tko", .statement = load_pointers},
          {.name = "load_view_tko", .statement = load_view},
          {.name = "store_ptr_tko", .statement = store_pointers},
          {.name = "store_view_tko", .statement = store_view}};
}

std::vector<Row> view_rows() {
  return {{.name = "get_index_space_shape", .statement = index_space},
          {.name = "get_tensor_shape", .statement = tensor_shape},
          {.name = "make_gather_scatter_view", .statement = make_view},
          {.name = "make_partition_view", .statement = make_view},
          {.name = "make_strided_view", .statement = make_view},
          {.name = "make_tensor_view", .statement = make_tensor_view}};
}

}  // namespace deplo::ir::tile_program::blocks
