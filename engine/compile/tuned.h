// Chooses the schedule with which a kernel is run, and says why: a schedule that a tuning run measured if there is one,
// else the heuristic's.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/compile/compiled.h"
#include "engine/foreign/opaque_kernel.h"
#include "engine/source/alternatives.h"
#include "engine/source/source.h"
#include "ir/canonical/canonical.h"
#include "measure/store/store.h"

namespace deplo::engine {

enum class Origin : std::uint8_t {
  tuned,      // this kernel (names may differ) was measured on this device; the same source is run
  shared,     // another kernel with the same schedule key was measured on this device
  family,     // a tuning run on this device kept the schedule for a range of sizes (engine/compile/dispatch.h)
  foreign,    // like tuned, shared or family, but of another device with the same target
  nearest,    // the same kernel with other extents was measured on this device
  heuristic,  // the first option of every fork
};
std::string_view name(Origin);

/// Where a schedule comes from.
struct Provenance {
  Origin origin = Origin::heuristic;
  double measured_us = 0;  // time in the tuning run; 0: never measured
  std::string from = {};   // name of the measured kernel if it is another one, or name of the family and its schedule
  std::string note = {};   // why there is no better origin, and what to do about it; "": nothing to say
};

struct Schedule : Provenance {
  ir::Program loop;                    // the lowered program: the kernel itself, or the equal one that was measured
  std::vector<std::size_t> arguments;  // [i]: index in the kernel of the i-th buffer of `loop`
  Compiled compiled;
  std::string proof;    // print(ir::ProofVerdict) of the tuning run; "": no proof was tried
  std::string created;  // UTC time when it was measured, or kept for its family; "": never
  std::string device;   // the device that measured it, if it is another device
};

/// The schedule of a kernel that Loop IR cannot express. Its origin is heuristic or tuned.
struct OpaqueSchedule : Provenance {
  Trail trail;
};

/// The decisions with which a graph, or another source with alternatives, is lowered.
struct GraphSchedule {
  Origin origin = Origin::heuristic;  // either heuristic or tuned
  Trail trail;                        // empty: the heuristic's decisions
  std::string note;                   // why a stored trail is not followed, and what to do about it
};

/// Returns the schedule with the first option of every fork. `kernel` must be verified Loop IR.
Schedule heuristic_schedule(const ir::Program& kernel, const Target&);

/// Returns the file of the user's own store, which `deplo tune`, `compile` and `run` use by default:
/// $XDG_CACHE_HOME/deplo/tuned.db, or ~/.cache/deplo/tuned.db if the variable is not set.
std::string default_store();
/// If `file` is the user's own store, creates its folder. Throws Error(environment), which names --store, if the user's
/// own store cannot be written. The folder of any other file must exist already.
void make_default_folder(const std::string& file);

/// Where the name of a store comes from, for messages of device_for().
struct StorePlace {
  std::string name = "--tuned";
  std::string choice = "choose with --tuned-on NAME";  // what to do if there are several devices
};
/// Returns the device in the store that has this target and a name that contains `name`. A device's sources were made
/// for its own target (measure::target_of). Throws Error unless there is exactly one such device.
measure::DeviceInfo device_for(const std::string& file, const Target&, const std::string& name, const StorePlace& = {});
/// Like the function above, but accepts a device of any target that runs this language.
measure::DeviceInfo device_for(const std::string& file, Dialect language, const std::string& name);

/// Returns the schedule that is run instead of a schedule with Origin::foreign.
using DecideForeign = std::function<Schedule(const ir::Program& kernel, Schedule foreign)>;

/// Looks up schedules in one store or pack. A stored trail is used only if deplo still compiles it to exactly the
/// measured source (by the digest). Otherwise the trail is stale, and the note says so. In a pack, schedules of other
/// devices with the same target come after those of this device; they only have to be legal here. Not thread-safe.
/// Each origin of a schedule has a method. If one method finds no schedule, the next method is called. They share the
/// store, the device and the notes on refused schedules.
class TunedCache {
 public:
  /// `file`: nullopt means the user's own store, which may be missing; a named store or pack must exist, and a pack
  /// must have schedules for the target (else Error). `nearest`: for a kernel without a measured schedule, prefer the
  /// schedule of the nearest extents, if it is legal, to the heuristic's. `tolerance`: as for Store::best.
  TunedCache(const std::optional<std::string>& file, const measure::DeviceInfo&, Target target, bool nearest,
             double tolerance = measure::default_tolerance);

  /// From now on, find() passes each foreign schedule to `decide` and returns its result.
  void decide_foreign(DecideForeign decide) { decide_foreign_ = std::move(decide); }
  /// `kernel` must be verified Loop IR.
  Schedule find(const ir::Program& kernel);
  OpaqueSchedule find(const OpaqueKernel&);
  /// Returns the decisions that a tuning run on this device chose for the source as a whole. They are used only if they
  /// still lead to exactly the kernels that were measured.
  GraphSchedule find_graph(const Alternatives&);
  /// Throws Error if find() returned a schedule that was not measured on this device, or if find_graph() returned a
  /// note. A foreign schedule counts as measured if the function set by decide_foreign() returned it. The Error begins
  /// with `place`. It names each kernel without a measured schedule, the nearest entry of the store, and why that entry
  /// does not fit.
  void require_tuned(std::string_view place);
  /// Throws the same Error if a kernel has neither a schedule that was measured on this device nor a foreign schedule.
  /// Call it before find(), which may have foreign schedules timed. Does nothing if find() would not time any.
  void require_tuned_or_foreign(std::span<const ir::Program> kernels, std::string_view place);
  /// Returns the file of the store; "" if there is none.
  const std::string& file() const { return file_; }
  measure::Store* store() { return store_ ? &*store_ : nullptr; }

 private:
  void open_foreign();
  std::string stale(std::int64_t trial, const std::string& kernel, bool compiles) const;
  std::optional<Schedule> replay(const measure::StoredSchedule&, std::string& note) const;
  Schedule look_up(const ir::Program& kernel);
  OpaqueSchedule look_up(const OpaqueKernel&);
  std::string why_unknown(const OpaqueKernel&);
  std::optional<Schedule> find_tuned(const ir::Program& kernel, const ir::StructuralKeys&, std::string& note);
  /// Returns a note about the faulty trials of kernels with this key; "" if there are none.
  std::string refused(std::string_view schedule_key);
  /// Returns the schedule that a family's rule chooses for the sizes of the kernel. `device`: id of the device on which
  /// the rule was made.
  std::optional<Schedule> find_family(const ir::Program& kernel, std::int64_t device, std::string& note);
  std::optional<Schedule> find_here(const ir::Program& kernel, const ir::StructuralKeys&, std::string& note);
  std::optional<Schedule> find_foreign(const ir::Program& kernel, const ir::StructuralKeys&, std::string& note);
  std::optional<Schedule> find_nearest(const ir::Program& kernel, std::string& note);
  /// Applies the trail of a measured kernel of the same form to this kernel.
  std::optional<Schedule> transfer(const ir::Program& kernel, const measure::StoredSchedule&, Origin) const;

  /// A kernel without a measured schedule, and the note that find() returned.
  struct Miss {
    ir::Program kernel;
    std::string note;
    bool opaque = false;
  };

  std::string file_;
  measure::DeviceInfo info_;
  Target target_;
  bool nearest_;
  double tolerance_;
  std::optional<measure::Store> store_;
  std::optional<std::int64_t> device_;  // id of the device in the store; nullopt: nothing was measured on it
  /// Another device in the pack that has the same target.
  struct Foreign {
    std::int64_t id;
    std::string name;
  };
  std::vector<Foreign> foreign_;
  DecideForeign decide_foreign_;
  std::vector<Miss> misses_;
  std::string graph_fault_;  // the note of find_graph()
};

}  // namespace deplo::engine
