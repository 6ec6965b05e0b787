#include "ir/interpret/block/global_memory.h"

#include <algorithm>
#include <bit>

#include "core/error.h"
#include "ir/interpret/computation.h"

namespace deplo::ir::exec {

void GlobalMemory::load(std::size_t dst, const Access& from, const Offsets& offsets, Mask mask) {
  const Global& global = buffers[static_cast<std::size_t>(from.buffer)];
  if (global.numbers != nullptr)
    return global.numbers->visit([&](const auto& values) {
      gather(dst, from, offsets, mask, [data = values.data()](std::int64_t i) { return static_cast<double>(data[i]); });
    });
  if (global.lazy != nullptr)
    return gather(dst, from, offsets, mask,
                  [&](std::int64_t i) { return (*global.lazy)[static_cast<std::size_t>(i)]; });
  if (!global.data.empty()) {
    if (roundings_.kept())
      roundings_[dst] = {global.rounding.empty() ? 0 : global.rounding[static_cast<std::size_t>(offsets[0])]};
    gather(dst, from, offsets, mask, [data = global.data.data()](std::int64_t i) { return data[i]; });
    if (exact && is_float16(global.dtype)) round(dst, from, global);
    return;
  }
  if (global.element) {
    *lanes_.element(dst, 0) = global.element(offsets[0]);
    return;
  }
  for (int w = 0; w < from.lanes; ++w) {
    const Point& point = written_point(global, offsets[0] + w);
    *lanes_.element(dst, w) = stored(global, point.value);
    if (roundings_.kept()) roundings_[dst] = {point.rounding};
  }
}

void GlobalMemory::round(std::size_t dst, const Access& access, const Layout& layout) {
  for (int w = 0; w < access.lanes; ++w)
    for (int l = 0; l < lanes_.count; ++l) lanes_.element(dst, w)[l] = stored(layout, lanes_.element(dst, w)[l]);
}

template <class Element>
void GlobalMemory::gather(std::size_t dst, const Access& access, const Offsets& offsets, Mask mask,
                          const Element& element) {
  const std::int64_t stride = access.lanes == 1 ? 0 : buffers[static_cast<std::size_t>(access.buffer)].strides.back();
  for (int w = 0; w < access.lanes; ++w) {
    double* out = lanes_.element(dst, w);
    const std::int64_t more = w * stride;
    if (offsets.uniform)
      std::fill(out, out + lanes_.count, element(offsets.base + more));
    else if (mask == nullptr)
      for (int l = 0; l < lanes_.count; ++l) out[l] = element(offsets.lanes[l] + more);
    else
      for (int l = 0; l < lanes_.count; ++l)
        if (mask[l] != 0) out[l] = element(offsets.lanes[l] + more);
  }
}

// In evaluate_at, an output element can be read only if this evaluation wrote it.
const Point& GlobalMemory::written_point(const Global& global, std::int64_t offset) const {
  for (auto point = points->rbegin(); point != points->rend(); ++point)
    if (point->offset == offset && point->buffer == global.name) return *point;
  throw Error("read of an element of " + global.name + " that nothing wrote, at `" + lanes_.text() + "`");
}

void GlobalMemory::write(const Access& to, WriteMode mode, std::int64_t offset, int lane, double value,
                         double rounding) {
  Global& global = buffers[static_cast<std::size_t>(to.buffer)];
  if (is_narrow_integer(global.dtype)) value = stored(global, value);  // in exact arithmetic, too
  if (points != nullptr) return write_point(global, mode, offset, value, rounding);
  if (!exact) value = stored(global, value);
  const auto i = static_cast<std::size_t>(offset);
  const bool adds = ir::adds(mode);
  if (!global.writers.empty()) claim(global, to, mode, i, lane, value);
  if (!global.rounding.empty()) global.rounding[i] = (adds ? global.rounding[i] : 0) + rounding;
  global.data[i] = written(global, mode, global.data[i], value);
}

double GlobalMemory::written(const Layout& to, WriteMode mode, double before, double value) const {
  if (!ir::adds(mode)) return value;
  combine(arithmetic_, to.dtype, Op::add, 1, &value, &before, &value);
  return value;
}

void GlobalMemory::write_point(const Global& global, WriteMode mode, std::int64_t offset, double value,
                               double rounding) {
  const auto same = [&](const Point& p) { return p.offset == offset && p.buffer == global.name; };
  const auto point = std::find_if(points->begin(), points->end(), same);
  if (point == points->end()) return points->push_back({global.name, offset, value, rounding});
  const bool adds = ir::adds(mode);
  point->value = written(global, mode, point->value, value);
  point->rounding = adds ? point->rounding + rounding : rounding;
}

// Several threads may write an element only if all write the same bits, or if all add to it. In a scatter, only one
// writer may choose an element; overlapping blocks may write it again with the same bits.
void GlobalMemory::claim(Global& global, const Access& to, WriteMode mode, std::size_t i, int lane,
                         double value) const {
  constexpr std::int64_t several = -INT64_MAX;  // not the number of a thread, and its negation does not overflow
  const std::int64_t me = lanes_.block * lanes_.threads + lanes_.thread(lane) + 1;
  std::int64_t& writer = global.writers[i];
  const bool adds = ir::adds(mode);
  const auto same_bits = [&] {
    return std::bit_cast<std::uint64_t>(global.data[i]) == std::bit_cast<std::uint64_t>(value);
  };
  if (to.scatters && !adds && writer != 0 && (once || !same_bits()))
    throw Error("scatter: " + lanes_.place(lane) + " writes element " + std::to_string(i) + " of " + global.name +
                ", which another turn has written, at `" + lanes_.text() + "`");
  const bool mine = writer == 0 || writer == me || writer == -me;
  if (!mine && (adds ? writer > 0 : writer < 0 || !same_bits())) {
    const std::int64_t other = std::abs(writer) - 1;
    const std::string who = writer == several ? "other threads"
                                              : "block " + std::to_string(other / lanes_.threads) + ", thread " +
                                                    std::to_string(other % lanes_.threads);
    const std::string how = adds ? " adds to" : writer < 0 ? " writes" : " writes another value to";
    throw Error("race: " + lanes_.place(lane) + how + " element " + std::to_string(i) + " of " + global.name +
                " than " + who + ", at `" + lanes_.text() + "`");
  }
  if (adds)
    writer = mine ? (writer == me ? me : -me) : several;
  else
    writer = me;
}

}  // namespace deplo::ir::exec
