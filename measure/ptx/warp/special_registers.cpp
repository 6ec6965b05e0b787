#include "measure/ptx/warp/special_registers.h"

#include <array>
#include <optional>

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

std::optional<std::int64_t> place_in_warp(Special which, std::uint32_t lane) {
  using enum Special;
  const std::uint32_t one = std::uint32_t{1} << lane;
  switch (which) {
    case laneid:
      return lane;
    case lanemask_eq:
      return one;
    case lanemask_lt:
      return one - 1;
    case lanemask_le:
      return (one - 1) | one;
    case lanemask_gt:
      return ~((one - 1) | one);
    case lanemask_ge:
      return ~(one - 1);
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> place_in_grid(Special which, const LaunchOptions& o, std::int64_t number,
                                          std::int64_t thread) {
  using enum Special;
  const Dimensions grid(o.blocks, o.grid_x, o.grid_y), block(o.threads, o.block_x, o.block_y);
  const auto axis = [&](Special first) { return static_cast<int>(which) - static_cast<int>(first); };
  switch (which) {
    case tid_x:
    case tid_y:
    case tid_z:
      return block.part(thread, axis(tid_x));
    case ntid_x:
    case ntid_y:
    case ntid_z:
      return block.size.at(static_cast<std::size_t>(axis(ntid_x)));
    case ctaid_x:
    case ctaid_y:
    case ctaid_z:
      return grid.part(number, axis(ctaid_x));
    case nctaid_x:
    case nctaid_y:
    case nctaid_z:
      return grid.size.at(static_cast<std::size_t>(axis(nctaid_x)));
    default:
      return std::nullopt;
  }
}

std::int64_t place_in_launch(Special which, const Block& block, std::int64_t warp) {
  using enum Special;
  const Machine& machine = block.machine();
  const std::int64_t cluster = machine.program().cluster;
  switch (which) {
    case warpid:
      return warp;
    case nwarpid:
      return machine.warps();
    case cluster_ctarank:
    case cluster_ctaid_x:
      return block.rank();
    case cluster_nctarank:
    case cluster_nctaid_x:
      return cluster;
    case clusterid_x:
      return block.index() / cluster;
    case nclusterid_x:
      return machine.options().blocks / cluster;
    case dynamic_smem_size:
      return machine.options().dynamic_shared_bytes;
    case total_smem_size:
      return static_cast<std::int64_t>(machine.shared_bytes());
    default:
      return 0;
  }
}

}  // namespace

std::int64_t special_value(Special which, const Block& block, std::int64_t warp, std::uint32_t lane) {
  if (const auto value = place_in_warp(which, lane)) return *value;
  const std::int64_t thread = warp * warp_lanes + lane;
  if (const auto value = place_in_grid(which, block.machine().options(), block.index(), thread)) return *value;
  return place_in_launch(which, block, warp);
}

}  // namespace deplo::measure::ptx
