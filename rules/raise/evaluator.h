// What an element of a tile is: found from where it is needed back to what it is made of. Private to the room.
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

/// An array that a pointer argument names.
struct Array {
  std::string name;
  ir::DType dtype = ir::DType::f32;
  ir::Shape shape, strides;
  ir::DType element = ir::DType::f32;
};

/// A tensor view: numbers, but for the place of its first element.
struct View {
  int array = -1;
  ir::Expr offset;
  ir::Shape shape, strides;
};

/// Gives the element of a value at an index.
using ElementAt = std::function<Element(const Index&)>;

/// Where elements of a tile lie: in which element of the array, and when the access takes place.
struct Place {
  Index at;
  ir::Expr condition = 1;  // that the operation states: it may read or write where this holds
  ValueId mask = -1;       // a condition that is a value, beside it
};

/// The trips of a loop, counted for all blocks alike: trip t, below `count`, has the counter low + t step. A block takes
/// those from `lower` to `upper`, which may depend on it.
struct Trips {
  std::int64_t count = 0, low = 0, step = 1;
  ir::Expr lower, upper;

  ir::Expr counter(const ir::Expr& trip) const { return trip * step + low; }
  /// Which of the block's own trips it is.
  ir::Expr number(const ir::Expr& trip) const;
  /// How many the block takes.
  ir::Expr taken() const;
  /// That the block takes the trip; none where all do.
  std::vector<ir::Expr> conditions(const ir::Expr& trip) const;
};

/// Thrown within the room, where Loop IR cannot express a program; try_raise() makes a value of it.
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
  /// The same where it is a number; else refuses, as `what`.
  std::int64_t number(const tp::Operation&, tp::ValueId, std::string_view what);
  /// A float or an i1 as a value of the kernel; an integer as an i32.
  ValueId value(tp::ValueId id, const Index& index) { return value_of(type(id), at(id, index)); }
  ValueId value_of(const tp::Type&, const Element&);
  View view(tp::ValueId);
  /// The array that a load or a store accesses.
  int accessed(const tp::Operation&);
  /// Where element `index` of the tile that a load or a store accesses lies.
  Place place(const tp::Operation&, const Index& index);

  const tp::Type& type(tp::ValueId id) const { return *entry.values[id].type; }
  const tp::Operation* definition(tp::ValueId id) const { return definitions_[id].first; }
  /// Loop IR cannot express what the operation does: throws Refused.
  [[noreturn]] void refuse(const tp::Operation&, const std::string& why) const;
  /// The launch breaks what the operation asks for: throws Error.
  [[noreturn]] void fail(const tp::Operation&, const std::string& why) const;

  /// Enters a region of a loop, or the body of a reduction, with values for its arguments.
  void enter(const tp::Region& region, std::map<tp::ValueId, ElementAt> arguments);
  void leave() { frames_.pop_back(); }
  /// Forgets what was evaluated, for another answer to what blocks and loops are.
  void forget();

  /// What a scalar of no simpler form is called: an unknown, or what the unknowns are solved as.
  ir::Expr unknown(const std::string& key, std::optional<ir::Interval> range = {});
  ir::Expr unknown(const std::string& name, std::int64_t extent);
  ir::Expr block(std::size_t dimension);
  /// Trips of a loop whose bounds are numbers.
  std::int64_t trips(const tp::Operation& loop);
  /// Of any loop whose bounds have least and greatest numbers.
  Trips trips_of(const tp::Operation& loop);
  Element in_trip(const tp::Operation& loop, std::size_t carried, const ir::Expr& trip, const Index& index);
  std::int64_t next_marker() { return markers_++; }

  const tp::Program& program;
  const tp::Entry& entry;
  const TileLaunch& launch;
  Elements elements;
  std::vector<Array> arrays;
  ir::Substitution solved;                                  // unknowns
  std::vector<std::pair<const tp::Operation*, int>> loads;  // and the array of each that was evaluated
  /// Where an integer that was loaded lies, also where that is not in the array; and what stands where none is loaded,
  /// if that is a number.
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
  Element evaluate(tp::ValueId, const Index&);
  std::map<std::string, std::string> unknowns_;  // by key
  std::vector<std::pair<const tp::Operation*, std::size_t>> definitions_;
  std::vector<const tp::Region*> regions_;  // of each value
  std::vector<Frame> frames_;
  std::int64_t markers_ = 0;
};

/// Of one operation: element `index` of a result.
using Raiser = Element (*)(Evaluator&, const tp::Operation&, std::size_t result, const Index& index);
struct NamedRaiser {
  std::string_view name;
  Raiser raise;
};
std::vector<NamedRaiser> integer_raisers();
std::vector<NamedRaiser> float_raisers();
std::vector<NamedRaiser> shape_raisers();
std::vector<NamedRaiser> memory_raisers();
std::vector<NamedRaiser> loop_raisers();
/// nullptr where an operation has none.
Raiser find_raiser(std::string_view operation);

/// Element `index` of a float that the loop carries, behind its last trip.
ValueId after_trips(Evaluator&, const tp::Operation& loop, std::size_t carried, const Index& index);

/// Whether its form has the attribute; whether a load or a store goes through a view.
bool has_attribute(const tp::Operation&, std::string_view name);
bool through_view(const tp::Operation&);

/// A float that the type cannot hold, rounded to it.
ValueId rounded(Evaluator&, const tp::Operation&, ValueId, ir::DType);
/// The type of Loop IR that holds the elements; nullopt where there is none.
std::optional<ir::DType> loop_type(ir::DType);
/// A reduction of an operation in a region (`add` of addf), where it is one.
std::optional<ir::Op> reducing(std::string_view operation);

/// The writes of a store: the value of each element, in terms of free axes. They cover the array, or the root scatters.
struct Output {
  int array = -1;
  const tp::Operation* store = nullptr;
  ir::Shape axes;
  Index index;  // none of a scatter
  ValueId root = -1;
};
Output raise_store(Evaluator&, const tp::Operation& store, const std::vector<const tp::Operation*>& around);

}  // namespace deplo::rules::raising
