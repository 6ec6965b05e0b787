#include "ir/hardware/tma.h"

#include <fmt/format.h>

#include <cstdint>

namespace deplo::ir::tma {
namespace {

constexpr std::size_t max_rank = 5;                         // cuTensorMapEncodeTiled
constexpr std::int64_t max_stride = std::int64_t{1} << 40;  // bytes; cuTensorMapEncodeTiled
constexpr std::int64_t max_dimension = INT32_MAX;           // coordinates are s32 (PTX ISA, "cp.async.bulk.tensor")

std::string stride_fault(const Buffer& source) {
  if (source.strides.back() != 1) return fmt::format("the last dimension of `{}` has no stride of 1", source.name);
  for (std::size_t i = 0; i + 1 < source.strides.size(); ++i)
    if (const std::int64_t stride = source.strides[i] * bytes(source.dtype);
        stride % granule != 0 || stride >= max_stride)
      return fmt::format("dimension {} of `{}` has a stride of {} bytes, not a multiple of {}", i, source.name, stride,
                         granule);
  return "";
}

}  // namespace

std::string fault(const TmaDescriptor& d, const Buffer& source) {
  const std::size_t rank = source.shape.size();
  if (rank == 0 || rank > max_rank)
    return fmt::format("`{}` has {} dimensions, not 1 to {}", source.name, rank, max_rank);
  for (std::size_t i = 0; i < rank; ++i)
    if (source.shape[i] > max_dimension)
      return fmt::format("dimension {} of `{}` has {} elements, more than {}", i, source.name, source.shape[i],
                         max_dimension);
  if (d.box.size() != rank)
    return fmt::format("`{}` has {} dimensions, found {} in the box", source.name, rank, d.box.size());
  for (const std::int64_t extent : d.box)
    if (extent < 1 || extent > max_extent) return fmt::format("a box of {} elements, not 1 to {}", extent, max_extent);
  const std::int64_t inner = d.box.back() * bytes(source.dtype);
  if (inner % granule != 0) return fmt::format("rows of {} bytes in the box, not a multiple of {}", inner, granule);
  if (d.swizzle != 0 && !is_pattern(d.swizzle))
    return fmt::format("a swizzle of {}, not 0, 32, 64 or 128 bytes", d.swizzle);
  if (d.swizzle != 0 && inner != d.swizzle)
    return fmt::format("rows of {} bytes in the box do not match a swizzle of {}", inner, d.swizzle);
  return stride_fault(source);
}

}  // namespace deplo::ir::tma
