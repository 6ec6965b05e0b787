// Evaluates elements of tiles backwards: from an element that is needed to the elements from which it is computed.
// Private to the room.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "ir/tensor/tensor.h"
#include "rules/raise/elements.h"
#include "rules/raise/raise.h"

namespace deplo::rules::raising {

namespace tp = ir::tile_program;

/// An array to which a pointer argument points.
struct Array {
  std::string name;
  ir::DType dtype = ir::DType::f32;
  ir::Shape shape, strides;
  ir::DType element = ir::DType::f32;
};

/// A tensor view. Everything except the offset of its first element is constant.
struct View {
  int array = -1;
  ir::Expr offset;
  ir::Shape shape, strides;
};

/// Returns the element of a value at an index.
using ElementAt = std::function<Element(const Index&)>;

/// The place of a tile's element: its index in the array, and the condition under which it is accessed.
struct Place {
  Index at;
  ir::Expr condition = 1;        // stated by the operation, which accesses the element only if this holds
  ValueId mask = ValueId::none;  // a further condition, which is a value
};

/// The trips (iterations) of a loop, numbered the same way for all blocks: trip t, below `count`, has the counter low +
/// t * step. A block executes the trips with counters from `lower` up to `upper`, which may depend on the block.
struct Trips {
  std::int64_t count = 0, low = 0, step = 1;
  ir::Expr lower, upper;

  ir::Expr counter(const ir::Expr& trip) const { return trip * step + low; }
  /// The number of `trip` among the trips that the block executes.
  ir::Expr number(const ir::Expr& trip) const;
  /// The number of trips that the block executes.
  ir::Expr taken() const;
  /// The conditions under which the block executes `trip`; empty if all blocks execute it.
  std::vector<ir::Expr> conditions(const ir::Expr& trip) const;
};

/// Thrown inside the room if Loop IR cannot express a program. try_raise() turns it into a NotRaised.
class Refused : public Error {
 public:
  explicit Refused(const std::string& why) : Error(why) {}
};

class Evaluator {
 public:
  Evaluator(const tp::Program&, const tp::Entry&, const TileLaunch&);

  /// Element `index` of a value.
  Element at(tp::ValueId, const Index&);
  /// An integer of rank 0.
  ir::Expr scalar(tp::ValueId id) { return at(id, {}).index; }
  /// The same for a constant integer. Refuses the operation if the integer is not constant, with `what` in the message.
  std::int64_t number(const tp::Operation&, tp::ValueId, std::string_view what);
  /// An element as a value of the kernel: integers as i32, floats and i1 as they are.
  ValueId value(tp::ValueId id, const Index& index) { return value_of(type(id), at(id, index)); }
  ValueId value_of(const tp::Type&, const Element&);
  /// The element of an operand: element `index`, or the only element of an operand of rank 0.
  Element operand(const tp::Operation& op, std::size_t i, const Index& index) {
    return at(op.operands[i], type(op.operands[i]).shape.empty() ? Index() : index);
  }
  View view(tp::ValueId);

  const tp::Type& type(tp::ValueId id) const { return *entry.values[id].type; }
  const tp::Operation* definition(tp::ValueId id) const { return definitions_[id].first; }
  /// Throws Refused: Loop IR cannot express the operation.
  [[noreturn]] void refuse(const tp::Operation&, const std::string& why) const;
  /// Throws Error: the launch violates a requirement of the operation.
  [[noreturn]] void fail(const tp::Operation&, const std::string& why) const;

  /// Enters a region of a loop, or the body of a reduction, with values for its arguments.
  void enter(const tp::Region& region, std::map<tp::ValueId, ElementAt> arguments);
  void leave() { frames_.pop_back(); }
  /// Forgets all evaluated elements, so that they can be evaluated with other solutions for blocks and trips.
  void forget();

  /// The unknown that stands for a scalar without a simpler form, or the expression by which the unknown was solved.
  ir::Expr unknown(const std::string& key, std::optional<ir::Interval> range = {});
  ir::Expr unknown(const std::string& name, std::int64_t extent);
  ir::Expr block(std::size_t dimension);
  std::int64_t next_marker() { return markers_++; }

  const tp::Program& program;
  const tp::Entry& entry;
  const TileLaunch& launch;
  Elements elements;
  std::vector<Array> arrays;
  ir::Substitution solved;                                  // unknowns and their solutions
  std::vector<std::pair<const tp::Operation*, int>> loads;  // the evaluated loads, each with its array
  /// The place of a loaded integer. `at` is not clamped to the array. `padding` is the constant that replaces the
  /// integer where it is not loaded; nullopt if this is not a constant, or if the integer is always loaded.
  struct Loaded {
    int array = -1;
    Index at;
    std::optional<std::int64_t> padding;
  };
  std::map<ValueId, Loaded> integers;

 private:
  struct Frame {
    const tp::Region* region = nullptr;
    std::map<tp::ValueId, ElementAt> arguments;
    std::map<std::pair<tp::ValueId, std::string>, Element> known;
  };
  void locate(const tp::Region&);
  void bind_arguments();
  std::map<std::string, std::string> unknowns_;  // key → name
  std::vector<std::pair<const tp::Operation*, std::size_t>> definitions_;
  std::vector<const tp::Region*> regions_;  // region of each value
  std::vector<Frame> frames_;
  std::int64_t markers_ = 0;
};

/// Raises one operation: returns element `index` of result `result`.
using Raiser = Element (*)(Evaluator&, const tp::Operation&, std::size_t result, const Index& index);
struct NamedRaiser {
  std::string_view name;
  Raiser raise;
};
/// The type in which Loop IR computes elements of the type: i1, i32 or f32.
ir::DType computed_in(ir::DType element);
/// An element that is a value of the kernel. Integers are index expressions that name the value.
Element element_of(ir::DType computed, ValueId);
/// Refuses an access that is not weak.
void check_order(const Evaluator&, const tp::Operation&);
/// Refuses a float operation that rounds otherwise than to the nearest number.
void check_rounding(const Evaluator&, const tp::Operation&);
/// The step of a loop. Refuses a step below 1, and a bound that may be negative if the counter is unsigned.
std::int64_t step_of(Evaluator&, const tp::Operation& loop);
std::vector<NamedRaiser> integer_raisers();
std::vector<NamedRaiser> float_raisers();
std::vector<NamedRaiser> shape_raisers();
std::vector<NamedRaiser> memory_raisers();
std::vector<NamedRaiser> loop_raisers();
/// Returns nullptr if the operation has no raiser.
Raiser find_raiser(const tp::Form&);

/// The array that a load or a store accesses.
int accessed(Evaluator&, const tp::Operation&);
/// The place of element `index` of the tile that a load or a store accesses.
Place place_of(Evaluator&, const tp::Operation&, const Index& index);

/// The number of trips of a loop with constant bounds.
std::int64_t trips(Evaluator&, const tp::Operation& loop);
/// The trips of a loop whose bounds have known ranges.
Trips trips_of(Evaluator&, const tp::Operation& loop);
/// The value before `trip` of a loop-carried integer or pointer that changes by the same amount in each trip.
Element in_trip(Evaluator&, const tp::Operation& loop, std::size_t carried, const ir::Expr& trip, const Index& index);
/// Element `index` of a loop-carried float after the loop's last trip.
ValueId after_trips(Evaluator&, const tp::Operation& loop, std::size_t carried, const Index& index);

/// has_attribute: does the operation's form have the attribute? through_view: does a load or a store access a view?
bool has_attribute(const tp::Operation&, std::string_view name);
bool through_view(const tp::Operation&);

/// The float rounded to the type; `id` itself if the type represents it exactly.
ValueId rounded(Evaluator&, const tp::Operation&, ValueId, ir::DType);
/// The type of Loop IR that holds the elements; nullopt if there is none.
std::optional<ir::DType> loop_type(ir::DType);
/// The reduction that corresponds to an operation in a region (`add` for addf); nullopt if there is none.
std::optional<ir::Op> reducing(std::string_view operation);

/// The writes of a store: the value of each element as a function of the free axes. The writes cover the whole array,
/// unless the root is a scatter.
struct Output {
  int array = -1;
  const tp::Operation* store = nullptr;
  ir::Shape axes;
  Index index;  // empty for a scatter
  ValueId root = ValueId::none;
};
Output raise_store(Evaluator&, const tp::Operation& store, const std::vector<const tp::Operation*>& around);

}  // namespace deplo::rules::raising
