#include "engine/compile/nearest_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/text/split.h"
#include "core/text/text.h"
#include "engine/compile/shape_distance.h"
#include "ir/canonical/canonical.h"
#include "measure/store/kernel_keys.h"

namespace deplo::engine {
namespace {

/// Returns the text of the kernel's form with all floats as f32 and without the permission of tf32. If two of these
/// texts have a finite shape_distance(), the kernels differ only in sizes, float types and that permission.
std::string comparable_form(ir::Program kernel) {
  kernel.allow_tf32 = false;
  for (ir::Buffer& buffer : kernel.buffers)
    if (ir::is_float(buffer.dtype)) buffer.dtype = ir::DType::f32;
  return print(ir::schedule_form(std::move(kernel)).program);
}

std::string shapes_of(const ir::Program& kernel) {
  std::vector<std::string> texts;
  for (const ir::Buffer& buffer : kernel.buffers) texts.push_back(ir::print(buffer.shape));
  return join(texts, ", ");
}

std::string dtypes_of(const ir::Program& kernel) {
  std::vector<std::string> texts;
  for (const ir::Buffer& buffer : kernel.buffers) texts.emplace_back(name(buffer.dtype));
  return join(texts, ", ");
}

std::string device_text(const measure::DeviceInfo& device) {
  return device.driver.empty() ? device.name : fmt::format("{} ({})", device.name, device.driver);
}

/// Returns the number of lines of the two texts that have no equal line in the other text. Digits are ignored.
std::size_t different_lines(const std::string& a, const std::string& b) {
  const auto sorted_lines = [](std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c >= '0' && c <= '9'; }, '0');
    const std::vector<std::string_view> views = lines_of(text);
    std::vector<std::string> lines(views.begin(), views.end());
    std::ranges::sort(lines);
    return lines;
  };
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(sorted_lines(a), sorted_lines(b), std::back_inserter(different));
  return different.size();
}

}  // namespace

Entries::Entries(measure::Store& store, measure::DeviceInfo device, std::optional<std::int64_t> id)
    : device_(std::move(device)), id_(id) {
  for (measure::TimedKernel& timed : store.timed_kernels()) {
    auto loop = measure::parse_loop(timed.kernel.text);
    if (!loop) continue;
    std::string form = comparable_form(*loop);
    entries_.push_back({std::move(timed), std::move(*loop), std::move(form)});
  }
}

std::string Entries::nearest(const ir::Program& kernel) const {
  if (entries_.empty()) return "the store has no times";
  const std::string form = comparable_form(kernel);
  const std::string own_shapes = shapes_of(kernel), own_dtypes = dtypes_of(kernel);
  struct Near {
    const Entry* entry;
    bool other_computation, other_device;
    double distance;  // distance between the sizes, or the number of different lines if the computation differs
    std::vector<std::string> reasons;
  };
  std::vector<Near> near;
  for (const Entry& entry : entries_) {
    const bool other_device = entry.timed.device != id_;
    Near one{&entry, false, other_device, shape_distance(form, entry.form), {}};
    if (std::isinf(one.distance)) {
      one.other_computation = true;
      one.distance = static_cast<double>(different_lines(form, entry.form));
      one.reasons.emplace_back("it computes something else");
    } else {
      if (const std::string theirs = shapes_of(entry.loop); one.distance > 0)
        one.reasons.push_back(theirs == own_shapes ? "it has the same sizes, but other constants"
                                                   : fmt::format("its sizes are {}, not {}", theirs, own_shapes));
      if (const std::string theirs = dtypes_of(entry.loop); theirs != own_dtypes)
        one.reasons.push_back(fmt::format("its dtypes are {}, not {}", theirs, own_dtypes));
      if (entry.loop.allow_tf32 != kernel.allow_tf32)
        one.reasons.emplace_back(kernel.allow_tf32 ? "it may not round to tf32" : "it may round to tf32");
    }
    if (other_device)
      one.reasons.push_back(
          fmt::format("it was measured on {}, not on {}", device_text(entry.timed.info), device_text(device_)));
    near.push_back(std::move(one));
  }
  const Near& best = *std::ranges::min_element(near, {}, [](const Near& one) {
    return std::tuple(one.other_computation, one.reasons.size(), one.other_device, one.distance);
  });
  std::string why = join(best.reasons, "; ");
  if (why.empty())
    why = fmt::format(
        "none of its times is used: each was checked with a larger tolerance, was stopped early, cannot be true, or "
        "belongs to a schedule that is not legal for this kernel (measured by deplo {})",
        best.entry->timed.revision);
  return fmt::format("the nearest entry is {}: {}", best.entry->timed.kernel.name, why);
}

}  // namespace deplo::engine
