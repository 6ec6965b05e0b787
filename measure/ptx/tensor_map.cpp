#include "measure/ptx/tensor_map.h"

#include <fmt/format.h>

#include <cstring>

#include "measure/ptx/finding.h"
#include "measure/ptx/memory.h"

namespace deplo::measure::ptx {
namespace {

constexpr std::uint64_t granule = 16;  // bytes; a swizzle moves them as one unit

// CUtensorMapDataType: UINT8, UINT16, UINT32, INT32, UINT64, INT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, …
constexpr std::array<std::uint64_t, 10> type_bytes = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};

std::uint64_t pattern(const TensorMap& map) { return map.swizzle == 0 ? 0 : granule << map.swizzle; }
std::uint64_t element_bytes(const TensorMap& map) { return type_bytes.at(static_cast<std::size_t>(map.type)); }

}  // namespace

std::uint64_t box_bytes(const TensorMap& map) {
  std::uint64_t bytes = element_bytes(map);
  for (std::size_t d = 0; d < map.rank; ++d) bytes *= map.box[d];
  return bytes;
}

std::optional<std::string> fault(const TensorMap& map) {
  if (map.type < 0 || static_cast<std::size_t>(map.type) >= type_bytes.size())
    return "expected a data type that the PTX machine supports";
  if (map.rank < 1 || map.rank > TensorMap::max_rank)
    return fmt::format("expected a rank from 1 to 5, found {}", map.rank);
  if (map.address % granule != 0) return "expected an address that is a multiple of 16";
  if (map.interleave != 0 || map.fill != 0) return "expected no interleaving and a fill with zeros";
  for (std::size_t d = 0; d < map.rank; ++d) {
    if (map.shape[d] < 1 || map.shape[d] > std::uint64_t{1} << 32)
      return fmt::format("expected an extent up to 2^32, found {}", map.shape[d]);
    if (map.box[d] < 1 || map.box[d] > 256) return fmt::format("expected a box from 1 to 256, found {}", map.box[d]);
    if (map.element_strides[d] != 1) return "expected element strides of 1";
    if (d + 1 < map.rank && (map.strides[d] % granule != 0 || map.strides[d] >= std::uint64_t{1} << 40))
      return fmt::format("expected strides that are multiples of 16 bytes below 2^40, found {}", map.strides[d]);
  }
  const std::uint64_t inner = map.box[0] * element_bytes(map);
  if (inner % granule != 0)
    return fmt::format("expected rows of a box that are multiples of 16 bytes, found {}", inner);
  if (map.swizzle < 0 || map.swizzle > 3) return "expected a swizzle of 32, 64 or 128 bytes";
  if (map.swizzle != 0 && inner > pattern(map))
    return fmt::format("expected rows of at most {} bytes under the swizzle, found {}", pattern(map), inner);
  return std::nullopt;
}

namespace {

class BoxCopy {
 public:
  BoxCopy(const TensorMap& map, const Coordinates& at, const GlobalMemory& from, SharedMemory& to, std::uint64_t offset,
          const VisitRow& visit_row)
      : map_(map),
        at_(at),
        from_(from),
        to_(to),
        offset_(offset),
        row_bytes_(map.box[0] * element_bytes(map)),
        visit_row_(visit_row) {}

  void run() {
    const std::uint64_t bytes = box_bytes(map_);
    constexpr std::uint64_t alignment = 128;  // CUDA Programming Guide, "Tensor Memory Access"
    if (offset_ % alignment != 0)
      throw Finding(fmt::format("misaligned: the copy goes to {:#x}, expected a multiple of 128", offset_));
    if (to_.find(offset_, bytes) == nullptr)
      throw Finding(fmt::format("out of bounds: the copy writes {} bytes at {}", bytes, to_.describe(offset_)));
    std::array<std::uint32_t, TensorMap::max_rank> index{};
    for (std::uint64_t row = 0; row < bytes / row_bytes_; ++row) {
      copy_row(index, row);
      for (std::size_t d = 1; d < map_.rank && ++index[d] == map_.box[d]; ++d) index[d] = 0;
    }
    to_.mark_written(offset_, bytes);
  }

 private:
  // Copies the part of the row that is inside the tensor; the rest of the row becomes 0.
  void copy_row(const std::array<std::uint32_t, TensorMap::max_rank>& index, std::uint64_t row) {
    std::array<std::byte, 256 * 8> bytes{};
    bool inside = true;
    std::uint64_t source = map_.address;
    for (std::size_t d = 1; d < map_.rank; ++d) {
      const std::int64_t c = std::int64_t{at_[d]} + index[d];
      inside = inside && c >= 0 && static_cast<std::uint64_t>(c) < map_.shape[d];
      source += static_cast<std::uint64_t>(c) * map_.strides[d - 1];
    }
    const std::int64_t first = std::max<std::int64_t>(at_[0], 0),
                       last = std::min<std::int64_t>(std::int64_t{at_[0]} + map_.box[0],
                                                     static_cast<std::int64_t>(map_.shape[0]));
    if (inside && first < last) {
      const std::uint64_t element = element_bytes(map_), size = static_cast<std::uint64_t>(last - first) * element;
      source += static_cast<std::uint64_t>(first) * element;
      const std::byte* const found = from_.find(source, size);
      if (found == nullptr)
        throw Finding("out of bounds: the tensor map reads " + from_.describe_with_size(source, size));
      std::memcpy(bytes.data() + static_cast<std::uint64_t>(first - at_[0]) * element, found, size);
      visit_row_(source, size);
    }
    for (std::uint64_t i = 0; i < row_bytes_; i += granule)
      std::memcpy(to_.find(swizzled(offset_ + row * row_bytes_ + i, pattern(map_)), granule), bytes.data() + i,
                  granule);
  }

  const TensorMap& map_;
  const Coordinates& at_;
  const GlobalMemory& from_;
  SharedMemory& to_;
  std::uint64_t offset_, row_bytes_;
  const VisitRow& visit_row_;
};

}  // namespace

void copy_box(const TensorMap& map, const Coordinates& at, const GlobalMemory& from, SharedMemory& to,
              std::uint64_t offset, const VisitRow& visit_row) {
  BoxCopy(map, at, from, to, offset, visit_row).run();
}

}  // namespace deplo::measure::ptx
