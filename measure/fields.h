// Lists the fields of DeviceInfo, Resources and Timing once, for the columns of the store
// (measure/store/rows/columns.h) and for the messages of a worker (measure/worker/message.cpp).
#pragma once
#include <concepts>
#include <type_traits>

#include "measure/device.h"
#include "measure/device_info.h"
#include "measure/protocol/sampling.h"

namespace deplo::measure {

/// Matches Record, whose fields can be filled, and const Record, whose fields can only be read.
template <class T, class Record>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Record>;

/// Calls field("name", member) or field("name", member, known) for each member. A member that is not known has its
/// default value, and is NULL in the store.
template <MaybeConst<DeviceInfo> Info, class Field>
void list_fields(Info& info, Field& field) {
  field("backend", info.backend);
  field("name", info.name);
  field("vendor", info.vendor);
  field("driver", info.driver);
  field("platform", info.platform);
  field("units", info.units);
  field("clock_mhz", info.clock_mhz);
  field("shared_bytes", info.shared_bytes);
  field("max_threads", info.max_threads);
  field("cpu", info.cpu);
  field("architecture", info.architecture);
  field("l2_bytes", info.l2_bytes);
  field("memory_bytes", info.memory_bytes);
}

template <MaybeConst<Resources> Used, class Field>
void list_fields(Used& used, Field& field) {
  field("registers", used.registers, used.registers >= 0);
  field("spill_bytes", used.spill_bytes, used.spill_bytes >= 0);
  field("stack_bytes", used.stack_bytes, used.stack_bytes >= 0);
  field("static_shared_bytes", used.static_shared_bytes, used.static_shared_bytes >= 0);
  field("dynamic_shared_bytes", used.dynamic_shared_bytes, used.dynamic_shared_bytes >= 0);
  field("occupancy", used.occupancy, used.occupancy >= 0);
  field("limiter", used.limiter);
  field("binary_digest", used.binary_digest);
  field("compiler_notes", used.compiler_notes);
  field("code_bytes", used.code_bytes, used.code_bytes >= 0);
}

/// Lists all members except first_launch_ms, which the store adds to the build time. `ok`: the kernel did not fail.
template <MaybeConst<Timing> Times, class Field>
void list_fields(Times& timing, Field& field, bool ok = true) {
  const bool ran = !timing.samples.empty();
  field("median_us", timing.median_us, ok);
  field("fidelity", timing.fidelity);
  field("samples", timing.samples);
  field("batch", timing.batch, ran);
  field("sets", timing.sets, ran);
  field("rejected", timing.rejected);
  field("warm_us", timing.warm_us, timing.warm_us > 0);
  field("clock_mhz", timing.clock_mhz, timing.clock_mhz > 0);
  field("energy_mj", timing.energy_mj, timing.energy_mj > 0);
  field("stopped", timing.stopped);
}

}  // namespace deplo::measure
