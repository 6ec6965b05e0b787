// Memory accesses of a block, and the sanitizer of shared memory.
#include <algorithm>
#include <array>
#include <bit>

#include "core/error.h"
#include "ir/interpret/machine.h"

namespace deplo::ir::exec {
namespace {

bool in_range(std::int64_t i, int more, std::int64_t extent) { return i >= 0 && i < extent - more; }

}  // namespace

void Machine::check_range(const Instruction& at, const Layout& layout, std::size_t dim, std::int64_t i, int more,
                          int lane) const {
  const std::int64_t extent = layout.shape[dim];
  if (in_range(i, more, extent)) return;
  throw Error("index out of range: " + std::to_string(i >= 0 && i < extent ? i + more : i) + " in dimension " +
              std::to_string(dim) + " of " + layout.name + ", which has " + std::to_string(extent) + ", in " +
              place(lane) + " at `" + text_of(*at.source) + "`");
}

Offsets Machine::locate(const Instruction& at, Access& access, Mask mask) {
  const auto buffer = static_cast<std::size_t>(access.buffer);
  const Layout& layout = access.shared ? static_cast<const Layout&>(shared[buffer]) : globals[buffer];
  const std::size_t rank = access.index.size();
  std::int64_t base = 0;
  if (access.varies) std::fill(offset_.begin(), offset_.end(), 0);
  for (std::size_t d = 0; d < rank; ++d) {
    const int more = d + 1 == rank ? access.lanes - 1 : 0;
    if (!access.index[d].varies) {
      const std::int64_t i = scalar(access.index[d]);
      if (!in_range(i, more, layout.shape[d])) check_range(at, layout, d, i, more, 0);
      base += i * layout.strides[d];
      continue;
    }
    vector(access.index[d], index_.data());
    for (std::size_t l = 0; l < offset_.size(); ++l) {
      if (mask != nullptr && mask[l] == 0) continue;
      if (!in_range(index_[l], more, layout.shape[d])) check_range(at, layout, d, index_[l], more, static_cast<int>(l));
      offset_[l] += index_[l] * layout.strides[d];
    }
  }
  if (access.varies && base != 0)
    for (std::int64_t& offset : offset_) offset += base;
  return {!access.varies, base, offset_.data()};
}

void Machine::load(const Instruction& at, LoadCode& c, Mask mask) {
  const Offsets offsets = locate(at, c.from, mask);
  const auto buffer = static_cast<std::size_t>(c.from.buffer);
  if (c.from.shared) {
    for (int w = 0; w < c.from.lanes; ++w)
      for (int l = 0; l < lanes; ++l)
        if (mask == nullptr || mask[l] != 0)
          element(c.dst, w)[l] =
              read_shared(at, shared[buffer], shared[buffer].cells[static_cast<std::size_t>(offsets[l] + w)], l);
    return;
  }
  const Global& global = globals[buffer];
  if (!global.floats.empty()) return gather(c, global.floats.data(), offsets, mask);
  if (!global.data.empty()) {
    if (rounds)
      roundings_[c.dst] = {global.rounding.empty() ? 0 : global.rounding[static_cast<std::size_t>(offsets[0])]};
    return gather(c, global.data.data(), offsets, mask);
  }
  if (global.element) {
    *element(c.dst, 0) = global.element(offsets[0]);
    return;
  }
  for (int w = 0; w < c.from.lanes; ++w) {
    const Point& point = read_point(at, global, offsets[0] + w);
    *element(c.dst, w) = point.value;
    if (rounds) roundings_[c.dst] = {point.rounding};
  }
}

template <class T>
void Machine::gather(const LoadCode& c, const T* data, const Offsets& offsets, Mask mask) {
  const std::int64_t stride = c.from.lanes == 1 ? 0 : globals[static_cast<std::size_t>(c.from.buffer)].strides.back();
  for (int w = 0; w < c.from.lanes; ++w) {
    double* out = element(c.dst, w);
    const T* from = data + w * stride;
    if (offsets.uniform)
      std::fill(out, out + lanes, static_cast<double>(from[offsets.base]));
    else if (mask == nullptr)
      for (int l = 0; l < lanes; ++l) out[l] = static_cast<double>(from[offsets.lanes[l]]);
    else
      for (int l = 0; l < lanes; ++l)
        if (mask[l] != 0) out[l] = static_cast<double>(from[offsets.lanes[l]]);
  }
}

// In evaluate_at an output can be read back only where this evaluation wrote it.
const Point& Machine::read_point(const Instruction& at, const Global& global, std::int64_t offset) const {
  for (auto point = points->rbegin(); point != points->rend(); ++point)
    if (point->offset == offset && point->buffer == global.name) return *point;
  throw Error("read of an element of " + global.name + " that nothing wrote, at `" + text_of(*at.source) + "`");
}

void Machine::write(const Instruction& at, WriteCode& c, Mask mask) {
  const Offsets offsets = locate(at, c.to, mask);
  const auto buffer = static_cast<std::size_t>(c.to.buffer);
  const std::int64_t stride = c.to.lanes == 1 || c.to.shared ? 1 : globals[buffer].strides.back();
  for (const int l : c.leads) {
    if (mask != nullptr && mask[l] == 0) continue;
    for (int w = 0; w < c.to.lanes; ++w) {
      double value = element(c.value.value, c.value.lanes == 1 ? 0 : w)[l];
      const std::int64_t offset = offsets[l] + w * stride;
      if (!c.to.shared) {
        write_global(at, c, offset, l, value);
        continue;
      }
      Cell& cell = shared[buffer].cells[static_cast<std::size_t>(offset)];
      if (c.mode == WriteMode::add) value += read_shared(at, shared[buffer], cell, l);
      write_shared(at, shared[buffer], cell, l, value);
    }
  }
}

// Several threads may write an element only to the same bits.
void Machine::write_global(const Instruction& at, const WriteCode& c, std::int64_t offset, int lane, double value) {
  Global& global = globals[static_cast<std::size_t>(c.to.buffer)];
  if (points != nullptr) {
    const auto same = [&](const Point& p) { return p.offset == offset && p.buffer == global.name; };
    const auto point = std::find_if(points->begin(), points->end(), same);
    const double rounding = rounds ? roundings_[c.value.value].error : 0;
    if (point == points->end()) return points->push_back({global.name, offset, value, rounding});
    const bool adds = c.mode == WriteMode::add;
    point->value = adds ? point->value + value : value;
    point->rounding = adds ? point->rounding + rounding : rounding;
    return;
  }
  const auto i = static_cast<std::size_t>(offset);
  if (!global.writers.empty()) claim(at, c, global, i, lane, value);
  if (!global.rounding.empty())
    global.rounding[i] = (c.mode == WriteMode::add ? global.rounding[i] : 0) + roundings_[c.value.value].error;
  global.data[i] = c.mode == WriteMode::add ? global.data[i] + value : value;
}

// Several threads may write an element only to the same bits, or all of them add to it.
void Machine::claim(const Instruction& at, const WriteCode& c, Global& global, std::size_t i, int lane,
                    double value) const {
  constexpr std::int64_t several = -INT64_MAX;  // no thread, and its negation is a number
  const std::int64_t me = block_ * threads + thread(lane) + 1;
  std::int64_t& writer = global.writers[i];
  const bool adds = c.mode == WriteMode::add;
  const auto same_bits = [&] {
    return std::bit_cast<std::uint64_t>(global.data[i]) == std::bit_cast<std::uint64_t>(value);
  };
  const bool mine = writer == 0 || writer == me || writer == -me;
  if (!mine && (adds ? writer > 0 : writer < 0 || !same_bits())) {
    const std::int64_t other = std::abs(writer) - 1;
    const std::string who =
        writer == several ? "other threads"
                          : "block " + std::to_string(other / threads) + ", thread " + std::to_string(other % threads);
    const std::string how = adds ? " adds to" : writer < 0 ? " writes" : " writes another value to";
    throw Error("race: " + place(lane) + how + " element " + std::to_string(i) + " of " + global.name + " than " + who +
                ", at `" + text_of(*at.source) + "`");
  }
  if (adds)
    writer = mine ? (writer == me ? me : -me) : several;
  else
    writer = me;
}

double Machine::read_shared(const Instruction& at, const Shared& s, Cell& cell, int lane) const {
  const int me = thread(lane);
  if (cell.writer == Cell::nobody)
    throw Error("read of shared memory that nothing wrote: " + s.name + " in " + place(lane) + " at `" +
                text_of(*at.source) + "`");
  if (cell.write_epoch == Cell::in_flight)
    throw Error("read of an asynchronous copy that was not waited for: an element of " + s.name + " in " + place(lane) +
                " at `" + text_of(*at.source) + "`");
  if (cell.writer != me && cell.writer != Cell::several && cell.write_epoch == epoch_)
    throw Error("race: " + place(lane) + " reads an element of " + s.name + " that thread " +
                std::to_string(cell.writer) + " wrote with no Sync between, at `" + text_of(*at.source) + "`");
  cell.reader = cell.read_epoch == epoch_ && cell.reader != me ? Cell::several : me;
  cell.read_epoch = epoch_;
  return cell.value;
}

void Machine::write_shared(const Instruction& at, const Shared& s, Cell& cell, int lane, double value) const {
  check_overwrite(at, s, cell, lane);
  cell.writer = thread(lane);
  cell.write_epoch = epoch_;
  cell.value = value;
}

// Nobody else may have touched the cell since the last barrier, nor may a copy be under way.
void Machine::check_overwrite(const Instruction& at, const Shared& s, const Cell& cell, int lane) const {
  const int me = thread(lane);
  if (cell.write_epoch == Cell::in_flight)
    throw Error("overwrite of an asynchronous copy that was not waited for: an element of " + s.name + " in " +
                place(lane) + " at `" + text_of(*at.source) + "`");
  const bool written =
      cell.writer != Cell::nobody && cell.writer != Cell::several && cell.write_epoch == epoch_ && cell.writer != me;
  const bool read = cell.reader != Cell::nobody && cell.read_epoch == epoch_ && cell.reader != me;
  if (written || read)
    throw Error("race: " + place(lane) + " writes an element of " + s.name + " that another thread " +
                (written ? "wrote" : "read") + " with no Sync between, at `" + text_of(*at.source) + "`");
}

void Machine::tree(const Instruction& at, TreeCode& c, Mask mask) {
  const auto buffer = static_cast<std::size_t>(c.first.buffer);
  std::vector<std::int64_t> tid(static_cast<std::size_t>(lanes));
  vector(c.first.index.back(), tid.data());
  std::vector<std::uint8_t> low(tid.size());  // the threads that take part in a step
  for (std::int64_t s = c.length / 2; s > 0; s /= 2) {
    for (std::size_t l = 0; l < tid.size(); ++l) low[l] = tid[l] < s ? 1 : 0;
    const Offsets offsets = locate(at, c.first, low.data());
    for (int l = 0; l < lanes; ++l) {
      if (low[static_cast<std::size_t>(l)] == 0) continue;
      check_range(at, shared[buffer], c.first.index.size() - 1, tid[static_cast<std::size_t>(l)] + s, 0, l);
      Cell* cell = &shared[buffer].cells[static_cast<std::size_t>(offsets[l])];
      const double a = read_shared(at, shared[buffer], cell[0], l);
      const double b = read_shared(at, shared[buffer], cell[s], l);
      write_shared(at, shared[buffer], cell[0], l, ir::apply(c.op, std::array{a, b}));
    }
    barrier(at, mask);
  }
}

}  // namespace deplo::ir::exec
