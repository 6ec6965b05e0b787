// Which schedule a kernel is run with: one that a tuning run measured where there is one, else the heuristic's; and
// why.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/compile/compiled.h"
#include "ir/canonical/canonical.h"
#include "measure/store/store.h"

namespace deplo::engine {

enum class Origin : std::uint8_t {
  tuned,      // this kernel, up to names, was measured on this device: its very source is run
  shared,     // another kernel with the same schedule key was
  nearest,    // the same kernel with other extents was
  heuristic,  // the first option of every fork
};
std::string_view name(Origin);

struct Schedule {
  Origin origin = Origin::heuristic;
  ir::Program loop;                    // what is lowered: the kernel itself, or the equal one that was measured
  std::vector<std::size_t> arguments;  // [i]: which buffer of the kernel is `loop`'s i-th
  Compiled compiled;
  double measured_us = 0;  // by the tuning run; 0: never measured
  std::string from;        // the measured kernel and its extents where it is not this one
  std::string note;        // why not a better origin, and what to do about it; "" where there is nothing to say
};

/// The first option of every fork, for verified Loop IR.
Schedule heuristic_schedule(const ir::Program& kernel, const Target&);

/// The user's own store, where `deplo tune` writes and `compile` and `run` look unless told otherwise:
/// $XDG_CACHE_HOME/deplo/tuned.db, ~/.cache without it.
std::string default_store();
/// Makes the folder of the user's own store; other files must be in a folder that exists. Throws Error(environment),
/// which names --store, if the user's own store cannot be written.
void make_default_folder(const std::string& file);

/// The device of the store that the target is made for, of those with `name` in their name; Error where there is none,
/// or more than one. Its own target (measure::target_of) is what its sources were made with.
measure::DeviceInfo device_for(const std::string& file, const Target&, const std::string& name);

/// Looks schedules up in one store. A trail counts only if this program makes the very source from it that was measured
/// (its digest); else it is stale, which the note says. Not thread-safe.
class TunedCache {
 public:
  /// `file`: nullopt is the user's own store, which may be missing; one that is named must exist (Error).
  /// `nearest`: the schedule of the nearest extents, where it is legal, before the heuristic's. `tolerance`: as of
  /// Store::best.
  TunedCache(const std::optional<std::string>& file, const measure::DeviceInfo&, Target target, bool nearest,
             double tolerance = measure::default_tolerance);

  /// `kernel` is verified Loop IR.
  Schedule find(const ir::Program& kernel);
  /// Throws Error if find() was asked for a kernel that no measured schedule was found for, so that its origin is
  /// neither tuned nor shared. The Error begins with `place` and names each such kernel, the entry of the store that is
  /// nearest to it, and why that entry does not fit.
  void require_tuned(std::string_view place);
  /// The store's file; "" where there is none.
  const std::string& file() const { return file_; }
  measure::Store* store() { return store_ ? &*store_ : nullptr; }

 private:
  std::optional<Schedule> replay(const measure::StoredSchedule&, std::string& note) const;
  Schedule look_up(const ir::Program& kernel);
  std::optional<Schedule> find_tuned(const ir::Program& kernel, const ir::StructuralKeys&, std::string& note);
  /// What is to be said of times of such kernels that are no times; "" where there are none.
  std::string refused(std::string_view schedule_key);
  std::optional<Schedule> find_nearest(const ir::Program& kernel, std::string& note);
  /// The trail of a kernel of the same form on this one.
  std::optional<Schedule> transfer(const ir::Program& kernel, const measure::StoredSchedule&, Origin) const;

  /// A kernel without a measured schedule, and what find() says of it.
  struct Miss {
    ir::Program kernel;
    std::string note;
  };

  std::string file_;
  measure::DeviceInfo info_;
  Target target_;
  bool nearest_;
  double tolerance_;
  std::optional<measure::Store> store_;
  std::optional<std::int64_t> device_;  // its id in the store; none: nothing was measured on it
  std::vector<Miss> misses_;
};

}  // namespace deplo::engine
