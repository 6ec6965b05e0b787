#include "measure/ptx/warp/special_registers.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "measure/ptx/machine.h"

namespace deplo::measure::ptx {
namespace {

/// Splits a number into x, y and z of a grid or block with `all` elements. If `x` is 0, all of them are along x.
struct Dimensions {
  Dimensions(std::int64_t all, std::int64_t x, std::int64_t y)
      : size{x == 0 ? all : x, y, x == 0 ? 1 : all / (x * y)} {}
  std::int64_t part(std::int64_t number, int axis) const {
    return axis == 0 ? number % size[0] : axis == 1 ? number / size[0] % size[1] : number / (size[0] * size[1]);
  }
  std::array<std::int64_t, 3> size;
};

const LaunchOptions& options_of(const LanePlace& p) { return p.block.machine().options(); }
Dimensions grid_of(const LanePlace& p) {
  const LaunchOptions& o = options_of(p);
  return {o.blocks, o.grid_x, o.grid_y};
}
Dimensions threads_of(const LanePlace& p) {
  const LaunchOptions& o = options_of(p);
  return {o.threads, o.block_x, o.block_y};
}
std::int64_t cluster_of(const LanePlace& p) { return p.block.machine().program().cluster; }

template <int axis>
std::int64_t tid(const LanePlace& p) {
  return threads_of(p).part(p.warp * warp_lanes + p.lane, axis);
}
template <int axis>
std::int64_t ntid(const LanePlace& p) {
  return threads_of(p).size[axis];
}
template <int axis>
std::int64_t ctaid(const LanePlace& p) {
  return grid_of(p).part(p.block.index(), axis);
}
template <int axis>
std::int64_t nctaid(const LanePlace& p) {
  return grid_of(p).size[axis];
}
std::int64_t rank(const LanePlace& p) { return p.block.rank(); }

Lanes bit_of(const LanePlace& p) { return Lanes{1} << p.lane; }

struct SpecialRegister {
  std::string_view name;
  Special value;
};
constexpr SpecialRegister registers[] = {
    {"%tid.x", tid<0>},
    {"%tid.y", tid<1>},
    {"%tid.z", tid<2>},
    {"%ntid.x", ntid<0>},
    {"%ntid.y", ntid<1>},
    {"%ntid.z", ntid<2>},
    {"%ctaid.x", ctaid<0>},
    {"%ctaid.y", ctaid<1>},
    {"%ctaid.z", ctaid<2>},
    {"%nctaid.x", nctaid<0>},
    {"%nctaid.y", nctaid<1>},
    {"%nctaid.z", nctaid<2>},
    {"%laneid", [](const LanePlace& p) -> std::int64_t { return p.lane; }},
    {"%warpid", [](const LanePlace& p) { return p.warp; }},
    {"%nwarpid", [](const LanePlace& p) { return p.block.machine().warps(); }},
    {"%cluster_ctarank", rank},
    {"%cluster_nctarank", cluster_of},
    {"%cluster_ctaid.x", rank},
    {"%cluster_nctaid.x", cluster_of},
    {"%clusterid.x", [](const LanePlace& p) { return p.block.index() / cluster_of(p); }},
    {"%nclusterid.x", [](const LanePlace& p) { return options_of(p).blocks / cluster_of(p); }},
    {"%lanemask_eq", [](const LanePlace& p) -> std::int64_t { return bit_of(p); }},
    {"%lanemask_lt", [](const LanePlace& p) -> std::int64_t { return bit_of(p) - 1; }},
    {"%lanemask_le", [](const LanePlace& p) -> std::int64_t { return (bit_of(p) - 1) | bit_of(p); }},
    {"%lanemask_gt", [](const LanePlace& p) -> std::int64_t { return ~((bit_of(p) - 1) | bit_of(p)); }},
    {"%lanemask_ge", [](const LanePlace& p) -> std::int64_t { return ~(bit_of(p) - 1); }},
    {"%dynamic_smem_size", [](const LanePlace& p) { return options_of(p).dynamic_shared_bytes; }},
    {"%total_smem_size",
     [](const LanePlace& p) { return static_cast<std::int64_t>(p.block.machine().shared_bytes()); }},
};

}  // namespace

Special find_special_register(std::string_view name) {
  const auto* const found = std::ranges::find(registers, name, &SpecialRegister::name);
  return found == std::end(registers) ? nullptr : found->value;
}

}  // namespace deplo::measure::ptx
