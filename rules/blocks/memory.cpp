// Loads, stores and atomics. A thread accesses the elements of a tile that it holds. If another block may write a
// one-element tile at the same time, the first thread accesses it for all threads.
#include <array>

#include "ir/tile_program/attribute.h"
#include "rules/blocks/control.h"
#include "rules/blocks/lowering.h"
#include "rules/blocks/rows.h"
#include "rules/blocks/shapes.h"

namespace deplo::rules::blocks {
namespace {

/// The memory order between blocks: what all threads of a block wrote before a release, and what all of them see after
/// an acquire.
class Strength {
 public:
  Strength(Lowering& l, const Operation& op)
      : l_(l), ordering_(static_cast<tp::Ordering>(op.number("memory_ordering_semantics"))) {
    if (op.given("memory_scope")) scope_ = static_cast<tp::Scope>(op.number("memory_scope"));
  }
  bool is_weak() const { return ordering_ == tp::Ordering::weak; }
  tp::Scope scope() const { return scope_; }

  /// Ends the accesses before the operation. Lowering::order orders the operation's own accesses after this call.
  void before() const {
    if (ordering_ == tp::Ordering::release || ordering_ == tp::Ordering::acq_rel) fence();
  }
  void after() const {
    // The thread that has read needs the fence (PTX ISA, "Acquire Pattern"). The barrier makes what it has read visible
    // to the other threads.
    if (ordering_ == tp::Ordering::acquire || ordering_ == tp::Ordering::acq_rel) fence();
  }

 private:
  void fence() const {
    l_.add(ir::Fence{scope_});
    l_.waits.barrier();
  }
  Lowering& l_;
  tp::Ordering ordering_;
  tp::Scope scope_ = tp::Scope::device;
};

/// An element of an operation's tile: its address, and the condition under which it exists ("": it always exists).
struct Place {
  Name address, condition;
};
/// The places of a tile's elements, and the condition under which all of them exist ("": no single condition is known).
struct Places {
  std::function<Place(const At&)> of;
  Name all_there = "";
};

void when(Lowering& l, const Place& place, const std::function<void()>& body) {
  if (place.condition.empty())
    body();
  else
    l.branch(place.condition, false, body);
}

/// The arrays that a pointer or a view may refer to.
Resources arrays_behind(const Lowering& l, ValueId id) {
  for (std::size_t i = 0; i < l.entry.parameters.size(); ++i)
    if (l.entry.parameters[i] == id) {
      const auto* array = std::get_if<tp::ArrayArgument>(&l.launch.arguments[i]);
      return array == nullptr ? l.resources.all_memory() : Resources{l.resources.array(array->array)};
    }
  const Operation* const definition = l.definition(id);
  if (definition == nullptr) return l.resources.all_memory();  // a loop carries the pointer
  const Operation& op = *definition;
  if (op.form->name == "get_global") return {l.resources.globals()};
  if (op.form->name == "alloca") return {l.resources.allocas()};
  // Operations that move pointers, or make views of them. Their first operand leads to the array. For the last three,
  // two operands do.
  static constexpr std::array<std::string_view, 14> leading = {"offset",
                                                               "broadcast",
                                                               "reshape",
                                                               "permute",
                                                               "extract",
                                                               "assume",
                                                               "ptr_to_ptr",
                                                               "make_tensor_view",
                                                               "make_partition_view",
                                                               "make_strided_view",
                                                               "make_gather_scatter_view",
                                                               "cat",
                                                               "insert",
                                                               "select"};
  if (std::find(leading.begin(), leading.end(), op.form->name) == leading.end()) return l.resources.all_memory();
  const bool two = op.form->name == "cat" || op.form->name == "insert" || op.form->name == "select";
  if (!two) return arrays_behind(l, op.operands[0]);
  const std::size_t first = op.form->name == "select" ? 1 : 0;
  Resources both = arrays_behind(l, op.operands[first]);
  both.merge(arrays_behind(l, op.operands[first + 1]));
  return both;
}

// --- Where elements lie ----------------------------------------------------------------------------------------------

Name zero(Lowering& l, ValueId id) { return l.constant(l.dtype(id), 0); }

/// Accesses all elements of a tile. A single thread first checks whether all elements exist, because compilers
/// vectorize a loop without conditions.
void access(Lowering& l, const Type& tile, const Places& places,
            const std::function<void(const At&, const Place&)>& access_at) {
  const auto all = [&](bool there) {
    l.each(tile.shape, [&](const At& at) {
      Place place = places.of(at);
      if (there) place.condition.clear();
      access_at(at, place);
    });
  };
  if (places.all_there.empty() || l.threads > 1) return all(false);
  l.branch(places.all_there, false, [&] { all(true); });
  l.branch(places.all_there, true, [&] { all(false); });
}

/// The elements to which pointers point, under a mask.
Places through_pointers(Lowering& l, const Operation& op, ValueId pointers) {
  return {[&l, &op, pointers](const At& at) {
    return Place{l.element(pointers, at), op.has("mask") ? l.element(op.operand("mask"), at) : ""};
  }};
}

/// The distance between neighbouring tiles along a dimension, in elements.
std::int64_t step_of(const Type& view, std::size_t d) {
  return view.kind == tp::Kind::gather_scatter_view ? 1
         : view.kind == tp::Kind::strided_view      ? view.traversal[d]
                                                    : view.tile[d];
}

std::size_t tensor_dim(const Type& view, std::size_t d) {
  return view.kind == tp::Kind::gather_scatter_view ? d : static_cast<std::size_t>(view.dim_map[d]);
}

Name times(Lowering& l, const Name& a, const Name& b) { return l.compute("muli", DType::i64, {a, b}); }
Name plus(Lowering& l, const Name& a, const Name& b) { return l.compute("addi", DType::i64, {a, b}); }

/// Returns whether a position, interpreted as unsigned, is inside an extent.
Name is_below(Lowering& l, const Name& position, const Name& extent) {
  const auto less = static_cast<std::int64_t>(tp::Comparison::less);
  return l.compute("cmpi", DType::boolean, {position, extent}, {{"comparison_predicate", less}});
}

/// The elements of a view's tile. An element exists if it is inside the view's tensor. Values that are equal for all
/// elements of the tile are computed only once, here.
Places through_view(Lowering& l, const Operation& op) {
  const ValueId id = op.operand("view");
  const Type& t = l.type(id);
  const View& view = l.view(id);
  const std::vector<ValueId> index = op.operand_list("index");
  const auto wide = [&l](ValueId of, const At& at) {
    return l.converted(l.element(of, at), l.dtype(of), DType::i64, false);
  };
  std::vector<Name> starts;
  Name all_there;
  bool some_sparse = false;
  for (std::size_t d = 0; d < index.size(); ++d) {
    const bool sparse = t.kind == tp::Kind::gather_scatter_view && static_cast<int>(d) == t.sparse_dim;
    some_sparse |= sparse;
    starts.push_back(sparse ? "" : times(l, wide(index[d], only), l.whole(DType::i64, step_of(t, d))));
    if (sparse) continue;
    const Name last = plus(l, starts[d], l.whole(DType::i64, t.tile[d] - 1));
    const Name inside = is_below(l, last, view.shape[tensor_dim(t, d)]);
    all_there = all_there.empty() ? inside : l.compute("andi", DType::boolean, {all_there, inside});
  }
  if (some_sparse) all_there.clear();
  return {[&l, &t, &view, index, starts, wide](const At& at) {
            Place place;
            Name offset;
            for (std::size_t d = 0; d < t.tile.size(); ++d) {
              const Expr within = coordinate(at.i, t.tile, d);
              const Name position =
                  starts[d].empty() ? wide(index[d], {l.simplified(within), std::nullopt})
                                    : plus(l, starts[d], l.converted(l.index(within), DType::i32, DType::i64, false));
              const Name inside = is_below(l, position, view.shape[tensor_dim(t, d)]);
              place.condition = d == 0 ? inside : l.compute("andi", DType::boolean, {place.condition, inside});
              const Name part = times(l, position, view.strides[tensor_dim(t, d)]);
              offset = d == 0 ? part : plus(l, offset, part);
            }
            if (t.tile.empty()) return Place{view.base, ""};
            place.address = plus(l, view.base, times(l, offset, l.whole(DType::i64, ir::bytes(t.element))));
            return place;
          },
          all_there};
}

Name padding(Lowering& l, const Type& view) {
  const DType e = view.element;
  const tp::Padding kind = view.padding.value_or(tp::Padding::zero);
  if (ir::is_integral(e) || kind == tp::Padding::zero) return l.constant(e, 0);
  return l.constant(e, ir::encode_float(tp::value_of(kind), e));
}

// --- Loads and stores ------------------------------------------------------------------------------------------------

using NameOf = std::function<Name(const At&)>;

/// Loads element by element. If threads could see different values of a one-element tile, only the first thread loads
/// it.
void load(Lowering& l, const Operation& op, const Places& places, const NameOf& otherwise) {
  const ValueId result = op.results[0];
  const Strength strength(l, op);
  const auto load_at = [&](const At& at, const Place& place) {
    if (!place.condition.empty()) l.set(result, at, otherwise(at));
    when(l, place, [&] {
      const Name loaded = l.fresh("e");
      l.add(ir::LoadAt{loaded, l.dtype(result), place.address, !strength.is_weak()});
      l.set(result, at, loaded);
    });
  };
  l.declare(result);
  if (!l.is_scalar(result)) {
    access(l, l.type(result), places, load_at);
  } else if (strength.is_weak() || l.threads == 1) {
    load_at(only, places.of(only));
  } else {
    once(l, result, [&] { load_at(only, places.of(only)); });
  }
  strength.after();
}

void load_pointers(Lowering& l, const Operation& op) {
  l.order(op, arrays_behind(l, op.operands[0]));
  load(l, op, through_pointers(l, op, op.operands[0]),
       [&](const At& at) { return op.has("padding") ? l.element(op.operand("padding"), at) : zero(l, op.results[0]); });
}

void load_view(Lowering& l, const Operation& op) {
  l.order(op, arrays_behind(l, op.operand("view")));
  load(l, op, through_view(l, op), [&](const At&) { return padding(l, l.type(op.operand("view"))); });
}

void store(Lowering& l, const Operation& op, ValueId value, const Places& places) {
  const Strength strength(l, op);
  const auto store_at = [&](const At& at, const Place& place) {
    when(l, place, [&] {
      const Name stored = l.element(value, at);
      l.add(ir::StoreAt{place.address, stored, l.dtype(value), !strength.is_weak()});
    });
  };
  if (l.is_scalar(value))
    l.by_first_thread([&] { store_at(only, places.of(only)); });
  else
    access(l, l.type(value), places, store_at);
}

void store_pointers(Lowering& l, const Operation& op) {
  Strength(l, op).before();
  l.order(op, {}, arrays_behind(l, op.operands[0]));
  store(l, op, op.operands[1], through_pointers(l, op, op.operands[0]));
}

void store_view(Lowering& l, const Operation& op) {
  Strength(l, op).before();
  l.order(op, {}, arrays_behind(l, op.operand("view")));
  store(l, op, op.operand("tile"), through_view(l, op));
}

// --- Atomics ---------------------------------------------------------------------------------------------------------

/// Updates memory and returns the old values. For a one-element result, only the first thread updates, and all threads
/// get the old value.
void update(Lowering& l, const Operation& op, const std::function<void(const At&)>& update_at) {
  const ValueId result = op.results[0];
  const Strength strength(l, op);
  const Resources memory = arrays_behind(l, op.operands[0]);
  strength.before();
  l.order(op, memory, memory);
  l.declare(result);
  if (!l.is_scalar(result))
    l.each(l.type(result).shape, update_at);
  else
    once(l, result, [&] { update_at(only); });
  strength.after();
}

void update_pointers(Lowering& l, const Operation& op, std::optional<tp::Rmw> mode, const NameOf& otherwise) {
  const ValueId result = op.results[0];
  const Places places = through_pointers(l, op, op.operands[0]);
  update(l, op, [&](const At& at) {
    const Place place = places.of(at);
    if (!place.condition.empty()) l.set(result, at, otherwise(at));
    when(l, place, [&] {
      ir::Atomic made{l.fresh("e"), l.dtype(result), mode, place.address, {}, Strength(l, op).scope()};
      for (std::size_t i = 1; i <= (mode ? 1 : 2); ++i) made.args.push_back(l.element(op.operands[i], at));
      const Name before = made.dst;
      l.add(std::move(made));
      l.set(result, at, before);
    });
  });
}

void atomic_rmw(Lowering& l, const Operation& op) {
  update_pointers(l, op, static_cast<tp::Rmw>(op.number("mode")), [&](const At&) { return zero(l, op.results[0]); });
}

void atomic_cas(Lowering& l, const Operation& op) {
  update_pointers(l, op, std::nullopt, [&](const At& at) { return l.element(op.operands[1], at); });
}

void atomic_red_view(Lowering& l, const Operation& op) {
  const auto mode = static_cast<tp::Rmw>(op.number("mode"));
  const ValueId value = op.operand("value");
  const Resources memory = arrays_behind(l, op.operand("view"));
  l.order(op, memory, memory);
  const Places places = through_view(l, op);
  for_elements(l, value, [&](const At& at) {
    const Place place = places.of(at);
    when(l, place, [&] {
      const Name x = l.element(value, at);
      l.add(ir::Atomic{l.fresh("e"), l.dtype(value), mode, place.address, {x}, Strength(l, op).scope()});
    });
  });
}

// --- Views -----------------------------------------------------------------------------------------------------------

void make_tensor_view(Lowering& l, const Operation& op) {
  const Type& t = l.result_type(op);
  View view{.base = l.scalar(op.operand("base")), .shape = {}, .strides = {}};
  for (const auto& [extents, name, into] :
       {std::tuple(&t.shape, "shape", &view.shape), std::tuple(&t.strides, "strides", &view.strides)}) {
    const std::vector<ValueId> values = op.operand_list(name);
    std::size_t next = 0;
    for (const std::int64_t extent : *extents) {
      if (extent != tp::dynamic) {
        into->push_back(l.whole(DType::i64, extent));
        continue;
      }
      const ValueId id = values[next++];
      into->push_back(l.converted(l.scalar(id), l.dtype(id), DType::i64, true));
    }
  }
  l.bind(op.results[0], std::move(view));
}

void make_view(Lowering& l, const Operation& op) { l.bind(op.results[0], l.view(op.operands[0])); }

void tensor_shape(Lowering& l, const Operation& op) {
  for (std::size_t d = 0; d < op.results.size(); ++d)
    l.bind(op.results[d], l.converted(l.view(op.operands[0]).shape[d], DType::i64, l.dtype(op.results[d]), false));
}

/// The number of tiles along each dimension. For the dimensions of a gather or scatter view, it is the number of
/// elements.
void index_space(Lowering& l, const Operation& op) {
  const Type& t = l.type(op.operands[0]);
  for (std::size_t d = 0; d < op.results.size(); ++d) {
    const Name extent = l.view(op.operands[0]).shape[tensor_dim(t, d)];
    const std::int64_t step = step_of(t, d);
    const Name tiles =
        l.compute("divi", DType::i64, {plus(l, extent, l.whole(DType::i64, step - 1)), l.whole(DType::i64, step)},
                  {{"signedness", 1}});
    l.bind(op.results[d], l.converted(tiles, DType::i64, l.dtype(op.results[d]), false));
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

}  // namespace deplo::rules::blocks
