#include "engine/compile/tuned.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/indices.h"
#include "core/text/text.h"
#include "core/trail.h"
#include "core/user_cache.h"
#include "engine/compile/dispatch.h"
#include "engine/compile/nearest_entry.h"
#include "engine/compile/shape_distance.h"
#include "engine/compile/target.h"
#include "engine/loop/kernel.h"
#include "ir/walk.h"
#include "measure/store/kernel_keys.h"
#include "measure/store/pack.h"
#include "rules/rule.h"

namespace deplo::engine {
namespace {

// Returns the kernel compiled with a stored trail; nullopt if the trail is not legal for it.
std::optional<Compiled> compile(const ir::Program& loop, const Target& target, const std::string& trail) {
  const auto lowering = rules::follow(loop, target, parse_trail(trail), rules::TrailIs::whole);
  if (!lowering.ok()) return std::nullopt;
  return engine::compile(lowering.value());
}

void rename_buffers(ir::Body& body, const std::map<std::string, std::string>& names) {
  ir::for_each(body, [&](ir::Stmt& stmt) {
    if (auto* load = stmt.as<ir::Load>()) load->buffer = names.at(load->buffer);
    if (auto* write = stmt.as<ir::Write>()) write->buffer = names.at(write->buffer);
  });
}

bool is_measured_here(Origin origin) {
  return origin == Origin::tuned || origin == Origin::shared || origin == Origin::family;
}

/// Describes the first difference between the identities of two opaque kernels whose first lines are equal. The
/// difference is a line that states an argument, a size or an option, or else the program's text.
std::string difference(std::string_view mine, std::string_view theirs) {
  const auto line = [](std::string_view text, std::size_t at) { return text.substr(at, text.find('\n', at) - at); };
  const auto is_fact = [](std::string_view text) {
    return std::ranges::any_of(std::array{"argument ", "problem ", "option ", "array ", "number "},
                               [&](const char* word) { return text.starts_with(word); });
  };
  std::size_t begin = 0, at = 0;
  for (; at < std::min(mine.size(), theirs.size()) && mine[at] == theirs[at]; ++at)
    if (mine[at] == '\n') begin = at + 1;
  const std::string_view ours = line(mine, begin), other = line(theirs, begin);
  if (!is_fact(ours) && !is_fact(other)) return "with different source code of the kernel";
  if (is_fact(ours) != is_fact(other))
    return fmt::format("{} '{}'", is_fact(ours) ? "without" : "with", is_fact(ours) ? ours : other);
  return fmt::format("with '{}', not '{}'", other, ours);
}

/// Returns true for a note that says why a stored entry of exactly this kernel and device is not used.
bool explains(std::string_view note) {
  return note.starts_with("stale: ") || note.starts_with("damaged: ") || note.starts_with("refused: ");
}

}  // namespace

std::string_view name(Origin origin) {
  constexpr std::array<std::string_view, 6> names = {"tuned", "shared", "family", "foreign", "nearest", "heuristic"};
  return names.at(static_cast<std::size_t>(origin));
}

std::string default_store() {
  const std::filesystem::path folder = user_cache_folder();
  return folder.empty() ? "deplo.db" : (folder / "tuned.db").string();
}

namespace {

/// Returns the only device in the store that `fits` accepts and that has a name that contains `name`. `what`: describes
/// the accepted devices, for error messages.
measure::DeviceInfo device_for(const std::string& file, const std::string& what, const std::string& name,
                               const StorePlace& place, const std::function<bool(const measure::DeviceInfo&)>& fits) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw Error(fmt::format("{}: expected the store of an earlier `deplo tune`, found no file '{}'", place.name, file));
  std::vector<measure::DeviceInfo> fitting;
  std::vector<std::string> names;
  for (measure::DeviceInfo& info : measure::Store::open_to_read(file).devices()) {
    names.push_back(fmt::format("'{}' ({}, {})", info.name, info.driver, measure::target_of(info).name));
    if (fits(info) && info.name.find(name) != std::string::npos) fitting.push_back(std::move(info));
  }
  if (fitting.size() != 1)
    throw Error(fmt::format("{}: expected one device for {}{} in {} ({}), found {}: {}", place.name, what,
                            name.empty() ? "" : " named '" + name + "'", file, place.choice, fitting.size(),
                            names.empty() ? "nothing was measured" : fmt::format("it has {}", join(names, ", "))));
  return std::move(fitting.front());
}

}  // namespace

measure::DeviceInfo device_for(const std::string& file, const Target& target, const std::string& name,
                               const StorePlace& place) {
  return device_for(file, target.name, name, place,
                    [&](const measure::DeviceInfo& device) { return measure::target_of(device).name == target.name; });
}

measure::DeviceInfo device_for(const std::string& file, Dialect language, const std::string& name) {
  return device_for(file, std::string(deplo::name(language)), name, {},
                    [&](const measure::DeviceInfo& device) { return runs_language(device, language); });
}

void make_default_folder(const std::string& file) {
  if (file != default_store()) return;
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const std::string& path : {folder.string(), file})
    if (!error && access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0)
      error = std::error_code(errno, std::generic_category());
  if (error)
    throw Error(fmt::format("store {}: your own store cannot be written: {}; name another file with --store FILE", file,
                            error.message()),
                Exit::environment);
}

TunedCache::TunedCache(const std::optional<std::string>& file, const measure::DeviceInfo& device, Target target,
                       bool nearest, double tolerance)
    : file_(file.value_or(default_store())),
      info_(device),
      target_(std::move(target)),
      nearest_(nearest),
      tolerance_(tolerance) {
  std::error_code error;
  const bool empty = !file && std::filesystem::file_size(file_, error) == 0;  // left by a `deplo tune` that was killed
  if (!empty && std::filesystem::exists(file_, error)) {
    store_ = measure::Store::open_to_read(file_);
    device_ = store_->find_device(device);
    if (measure::is_pack(file_)) open_foreign();
  } else if (file) {
    throw Error(fmt::format("--tuned: expected the store of an earlier `deplo tune`, found no file '{}'", file_));
  } else {
    file_.clear();
  }
}

void TunedCache::open_foreign() {
  std::vector<std::string> others;
  for (const measure::DeviceInfo& info : store_->devices()) {
    const std::int64_t id = *store_->find_device(info);
    if (id == device_) continue;
    if (const std::string target = measure::target_of(info).name; target != target_.name)
      others.push_back(fmt::format("{} ({})", target, info.name));
    else
      foreign_.push_back({id, info.name});
  }
  if (!device_ && foreign_.empty())
    throw Error(fmt::format("--tuned {}: expected schedules for {}, the target of {}, found {}", file_, target_.name,
                            info_.name, others.empty() ? "none" : "only those for " + join(others, ", ")));
}

Schedule heuristic_schedule(const ir::Program& kernel, const Target& target) {
  Schedule schedule;
  schedule.loop = kernel;
  schedule.arguments = indices(kernel.buffers.size());
  schedule.compiled = engine::compile(rules::heuristic(kernel, target));
  return schedule;
}

// Returns the measured kernel if deplo still compiles it to the measured source. Otherwise sets `note`.
std::optional<Schedule> TunedCache::replay(const measure::StoredSchedule& stored, std::string& note) const {
  Schedule schedule;
  std::optional<Compiled> compiled;
  try {
    schedule.loop = parse_kernel(stored.kernel.text, {}, "the kernel's text");
    if (ir::structural_keys(schedule.loop).exact != stored.exact_key) throw Error("the key does not match the text");
    compiled = compile(schedule.loop, target_, stored.best.trail);
  } catch (const Error& error) {
    note = fmt::format("damaged: trial {} of {}: {}", stored.best.id, file_, error.what());
    return std::nullopt;
  }
  if (!compiled || compiled->digest != stored.best.digest) {
    note = stale(stored.best.id, stored.kernel.name, compiled.has_value());
    return std::nullopt;
  }
  schedule.arguments = indices(schedule.loop.buffers.size());
  schedule.compiled = std::move(*compiled);
  schedule.measured_us = stored.best.timing.median_us;
  schedule.proof = stored.best.proof;
  schedule.created = stored.best.created;
  return schedule;
}

std::string TunedCache::stale(std::int64_t trial, const std::string& kernel, bool compiles) const {
  return fmt::format(
      "stale: the trail of trial {} of {} now gives {}, because deplo or the target changed; run `deplo tune --store "
      "{}` "
      "to measure it again",
      trial, kernel, compiles ? "a different source than the measured one" : "no kernel", file_);
}

std::optional<Schedule> TunedCache::transfer(const ir::Program& kernel, const measure::StoredSchedule& stored,
                                             Origin origin) const {
  const ir::Program theirs = parse_kernel(stored.kernel.text, {}, "store " + file_);
  ir::Canonical mine = ir::canonical(kernel);
  const std::vector<std::size_t> matching = corresponding_buffers(ir::schedule_form(kernel), ir::schedule_form(theirs));
  // Knobs name buffers, so the kernel gets the buffer names of the measured kernel.
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < mine.buffers.size(); ++i) {
    const auto place = std::ranges::find(matching, mine.buffers[i]) - matching.begin();
    ir::Buffer& buffer = mine.program.buffers[i];
    names[buffer.name] = theirs.buffers[static_cast<std::size_t>(place)].name;
    buffer.name = names[buffer.name];
  }
  rename_buffers(mine.program.body, names);
  if (!verify(mine.program).empty()) return std::nullopt;  // a buffer now has the name of a value
  auto compiled = compile(mine.program, target_, stored.best.trail);
  if (!compiled) return std::nullopt;
  Schedule schedule;  // without a proof, because the stored proof is about the measured kernel
  schedule.origin = origin;
  schedule.loop = std::move(mine.program);
  schedule.arguments = std::move(mine.buffers);
  schedule.compiled = std::move(*compiled);
  schedule.measured_us = stored.best.timing.median_us;
  schedule.created = stored.best.created;
  schedule.from = stored.kernel.name;
  return schedule;
}

std::optional<Schedule> TunedCache::find_tuned(const ir::Program& kernel, const ir::StructuralKeys& keys,
                                               std::string& note) {
  std::vector<measure::StoredSchedule> stored = store_->schedules(keys.schedule, *device_, tolerance_);
  std::ranges::stable_sort(stored, [&](const auto& a, const auto& b) {
    const bool exact = a.exact_key == keys.exact;
    if (exact != (b.exact_key == keys.exact)) return exact;
    return a.best.timing.median_us < b.best.timing.median_us;
  });
  for (const measure::StoredSchedule& one : stored) {
    // Kernels with another exact key are replayed, too: a trail that is stale for them is also stale for this kernel.
    auto schedule = replay(one, note);
    if (!schedule) continue;
    note.clear();
    if (one.exact_key != keys.exact) {
      schedule = transfer(kernel, one, Origin::shared);
      if (!schedule) continue;
      return schedule;
    }
    schedule->origin = Origin::tuned;
    schedule->arguments = corresponding_buffers(ir::canonical(kernel), ir::canonical(schedule->loop));
    return schedule;
  }
  return std::nullopt;
}

std::optional<Schedule> TunedCache::find_family(const ir::Program& kernel, std::int64_t device, std::string& note) {
  const ShapeForm form = shape_form(kernel);
  const auto stored = store_->family(form.key(), device);
  if (!stored) return std::nullopt;
  const std::string row = fmt::format("the rule of the family {} (row {} of {})", stored->name, stored->id, file_);
  if (stored->pipeline != rules::version_of(rules::pipeline())) {
    note = fmt::format("stale: {} was made with other scheduling rules; run `deplo tune --shapes` again", row);
    return std::nullopt;
  }
  try {
    const ir::Program theirs = parse_kernel(stored->kernel.text, {}, row);
    const ShapeForm of_family = shape_form(theirs);
    const DispatchRule rule = parse_rule(stored->rule, row);
    if (of_family.mask != form.mask)
      throw Error(row + ": expected a kernel of the family's form, found a kernel of a different form");
    const auto choice = dispatch(rule, form.numbers, of_family.numbers);
    if (!choice) {
      note = fmt::format("the sizes are outside the family {} of {}", stored->name, file_);
      return std::nullopt;
    }
    auto named = with_names_of(kernel, theirs);
    if (!named) return std::nullopt;
    Schedule schedule;
    schedule.origin = Origin::family;
    schedule.compiled = compile_nearest(named->loop, target_, rule.schedules[*choice]);
    schedule.loop = std::move(named->loop);
    schedule.arguments = std::move(named->arguments);
    schedule.created = stored->created;
    schedule.from = fmt::format("{}, schedule {}", stored->name, schedule_letter(*choice));
    return schedule;
  } catch (const Error& error) {
    note = fmt::format("damaged: {}", error.what());
    return std::nullopt;
  }
}

/// The rule of a family takes precedence over measured schedules, except over a newer one of exactly this kernel.
std::optional<Schedule> TunedCache::find_here(const ir::Program& kernel, const ir::StructuralKeys& keys,
                                              std::string& note) {
  std::optional<Schedule> tuned = find_tuned(kernel, keys, note);
  std::string of_family;
  std::optional<Schedule> family = find_family(kernel, *device_, of_family);
  if (!tuned && note.empty()) note = of_family;
  if (!family || (tuned && tuned->origin == Origin::tuned && tuned->created > family->created)) return tuned;
  return family;
}

std::optional<Schedule> TunedCache::find_foreign(const ir::Program& kernel, const ir::StructuralKeys& keys,
                                                 std::string& note) {
  std::vector<std::pair<const Foreign*, measure::StoredSchedule>> found;
  for (const Foreign& device : foreign_)
    for (measure::StoredSchedule& stored : store_->schedules(keys.schedule, device.id, tolerance_))
      found.emplace_back(&device, std::move(stored));
  std::ranges::stable_sort(found, {}, [&](const auto& one) {
    return std::pair(one.second.exact_key != keys.exact, one.second.best.timing.median_us);
  });
  for (const auto& [device, stored] : found) {
    std::optional<Schedule> schedule = transfer(kernel, stored, Origin::foreign);
    if (!schedule) continue;
    if (stored.exact_key == keys.exact) schedule->from.clear();
    schedule->device = device->name;
    schedule->note = fmt::format("measured on {}, not on this device", device->name);
    return schedule;
  }
  for (const Foreign& device : foreign_)
    if (std::optional<Schedule> schedule = find_family(kernel, device.id, note)) {
      schedule->origin = Origin::foreign;
      schedule->device = device.name;
      schedule->note = fmt::format("kept for its family on {}, not on this device", device.name);
      return schedule;
    }
  if (note.empty() && !found.empty())
    note = fmt::format("the schedule measured on {} is not legal here", found.front().first->name);
  return std::nullopt;
}

std::optional<Schedule> TunedCache::find_nearest(const ir::Program& kernel, std::string& note) {
  const std::string mine = print(ir::schedule_form(kernel).program);
  std::vector<std::pair<double, measure::StoredSchedule>> near;
  for (measure::StoredSchedule& stored : store_->schedules(std::nullopt, *device_, tolerance_)) {
    const auto theirs = measure::parse_loop(stored.kernel.text);
    if (!theirs) continue;
    const double apart = shape_distance(mine, print(ir::schedule_form(*theirs).program));
    if (std::isfinite(apart)) near.emplace_back(apart, std::move(stored));
  }
  std::ranges::stable_sort(near, {}, [](const auto& entry) { return entry.first; });
  for (const auto& [apart, stored] : near) {
    std::string stale;
    if (!replay(stored, stale)) continue;
    if (auto schedule = transfer(kernel, stored, Origin::nearest)) return schedule;
  }
  if (note.empty())
    note = near.empty() ? "not tuned with other extents either"
                        : fmt::format("none of the {} schedules for other extents is legal here", near.size());
  return std::nullopt;
}

std::string TunedCache::refused(std::string_view schedule_key) {
  const std::vector<measure::FaultyTrial> faulty = store_->faulty_trials(schedule_key, *device_);
  if (faulty.empty()) return "";
  const std::string more = faulty.size() == 1 ? "" : fmt::format(" and {} more", faulty.size() - 1);
  return fmt::format("refused: trial {} of {} ({:.4g} µs){}: {}; see `deplo db check`", faulty[0].id, file_,
                     faulty[0].median_us, more, faulty[0].fault);
}

Schedule TunedCache::find(const ir::Program& kernel) {
  Schedule schedule = look_up(kernel);
  const bool decided = schedule.origin == Origin::foreign && decide_foreign_ != nullptr;
  if (decided) schedule = decide_foreign_(kernel, std::move(schedule));
  const bool kept = decided && schedule.origin == Origin::foreign;
  if (!kept && !is_measured_here(schedule.origin)) misses_.push_back({kernel, schedule.note});
  return schedule;
}

OpaqueSchedule TunedCache::find(const OpaqueKernel& kernel) {
  OpaqueSchedule schedule = look_up(kernel);
  if (schedule.origin != Origin::tuned) misses_.push_back({kernel.signature(), schedule.note, true});
  return schedule;
}

/// Says how the kernel differs from a stored kernel that has times and the same first line of its identity; "" if there
/// is no such kernel.
std::string TunedCache::why_unknown(const OpaqueKernel& kernel) {
  const std::string identity = kernel.identity();
  const auto text = store_->timed_text(identity.substr(0, identity.find('\n') + 1));
  return text ? fmt::format("it was tuned {}", difference(identity, *text)) : "";
}

OpaqueSchedule TunedCache::look_up(const OpaqueKernel& kernel) {
  const search::PositionPtr heuristic = search::heuristic(kernel.space());
  const auto untuned = [&](std::string note) { return OpaqueSchedule{{.note = std::move(note)}, heuristic->trail()}; };
  if (!store_) return untuned("");
  const std::optional<std::int64_t> id = store_->find_kernel(kernel.identity());
  if (!id) return untuned(why_unknown(kernel));
  if (!device_) return untuned("tuned on another device, not on this one");
  std::optional<measure::TrialRecord> best = store_->best(*id, *device_, tolerance_);
  if (!best) return untuned("");
  search::PositionPtr candidate = kernel.space().find(parse_trail(best->trail));
  if (!candidate) {  // the user changed the space since then, or has several spaces for this kernel
    std::vector<measure::TrialRecord> trials = store_->valid_trials(*id, *device_, tolerance_);
    std::ranges::stable_sort(trials, {}, [](const measure::TrialRecord& trial) {
      return std::pair(trial.stage != measure::Stage::confirm, trial.timing.median_us);
    });
    for (const measure::TrialRecord& trial : trials)
      if ((candidate = kernel.space().find(parse_trail(trial.trail)))) {
        best = trial;
        break;
      }
    if (!candidate)
      return untuned(fmt::format("stale: {} of {} in {} is {}in this space",
                                 trials.size() == 1
                                     ? "the measured configuration"
                                     : fmt::format("none of the {} measured configurations", trials.size()),
                                 kernel.signature().name, file_, trials.size() == 1 ? "not " : ""));
  }
  if (digest(kernel.code(*candidate).source.text) == best->digest)
    return {{Origin::tuned, best->timing.median_us, "", ""}, candidate->trail()};
  return untuned(stale(best->id, kernel.signature().name, true));
}

GraphSchedule TunedCache::find_graph(const Alternatives& source) {
  const auto stored = store_ && device_ ? store_->graph(source.key(), *device_) : std::optional<measure::GraphRecord>();
  if (!stored) return {};
  try {
    Trail trail = parse_trail(stored->trail);
    const Result<Alternative> now = source.follow(trail);
    if (now.ok() && now.value().digest == stored->digest) return {Origin::tuned, std::move(trail), ""};
    graph_fault_ = fmt::format(
        "stale: the stored trail of graph row {} of {} now gives {}, because deplo or the target changed; run `deplo "
        "tune --store {}` to choose its kernels again",
        stored->id, file_,
        now.ok() ? "other kernels than the measured ones" : fmt::format("no kernels ({})", now.failure().message),
        file_);
  } catch (const Error& error) {
    graph_fault_ = fmt::format("damaged: the stored trail of graph row {} of {}: {}", stored->id, file_, error.what());
  }
  return {Origin::heuristic, {}, graph_fault_};
}

void TunedCache::require_tuned(std::string_view place) {
  if (!graph_fault_.empty()) throw Error(fmt::format("{}: {}", place, graph_fault_));
  if (misses_.empty()) return;
  const std::string of = misses_.size() == 1
                             ? "a kernel has no schedule that was measured"
                             : fmt::format("{} kernels have no schedules that were measured", misses_.size());
  const std::string on = fmt::format("on {} for {}", info_.name, target_.name);
  if (!store_) {
    std::vector<std::string> names;
    for (const Miss& miss : misses_) names.push_back(miss.kernel.name);
    throw Error(fmt::format("{}: {} {}: expected the store of an earlier `deplo tune`, found no file '{}': {}", place,
                            of, on, default_store(), join(names, ", ")));
  }
  const Entries entries(*store_, info_, device_);
  std::string text;
  for (const auto& [kernel, note, opaque] : misses_) {
    const std::string why = explains(note) ? note
                            : !opaque      ? entries.nearest(kernel)
                            : note.empty() ? "not tuned for this launch"
                                           : note;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", kernel.name, why);
  }
  throw Error(fmt::format("{}: {} {} in {}: {}", place, of, on, file_, text));
}

void TunedCache::require_tuned_or_foreign(std::span<const ir::Program> kernels, std::string_view place) {
  if (decide_foreign_ == nullptr || foreign_.empty()) return;
  std::set<std::string> seen;
  for (const ir::Program& kernel : kernels) {
    if (!seen.insert(ir::structural_keys(kernel).exact).second) continue;
    const Schedule schedule = look_up(kernel);
    if (schedule.origin != Origin::foreign && !is_measured_here(schedule.origin))
      misses_.push_back({kernel, schedule.note});
  }
  require_tuned(place);
}

Schedule TunedCache::look_up(const ir::Program& kernel) {
  std::string note;
  if (store_) {
    const ir::StructuralKeys keys = ir::structural_keys(kernel);
    const std::string refused = device_ ? this->refused(keys.schedule) : "";
    if (device_)
      if (auto schedule = find_here(kernel, keys, note)) {
        schedule->note = refused;
        return std::move(*schedule);
      }
    const std::vector<std::string> others = store_->devices_of(keys.schedule);
    if (note.empty()) note = refused;
    if (auto schedule = find_foreign(kernel, keys, note)) return std::move(*schedule);
    if (note.empty() && !others.empty() && !device_)
      note = fmt::format("tuned on {}, not on this device", join(others, ", "));
    if (device_ && nearest_)
      if (auto schedule = find_nearest(kernel, note)) {
        schedule->note = std::move(note);
        return std::move(*schedule);
      }
  }
  Schedule schedule = heuristic_schedule(kernel, target_);
  schedule.note = std::move(note);
  return schedule;
}

}  // namespace deplo::engine
