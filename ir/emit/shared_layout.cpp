#include "ir/emit/shared_layout.h"

#include <algorithm>
#include <vector>

#include "ir/walk.h"

namespace deplo::ir {
namespace {

// What __shared__ arrays may take (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", note
// on the maximum amount of shared memory per thread block).
constexpr std::int64_t static_limit = std::int64_t{48} * 1024;

struct Piece {
  std::string name;
  std::int64_t bytes = 0, align = 1;
};

std::vector<Piece> pieces(const Body& kernel, const Target& target) {
  std::vector<Piece> found;
  for_each(kernel, [&](const Stmt& stmt) {
    if (const auto* s = stmt.as<Smem>())
      found.push_back({s->buffer, element_count(s->shape) * bytes(s->dtype), alignment(*s, target)});
    if (const auto* s = stmt.as<MbarrierInit>())
      found.push_back({s->barrier, s->slots * MbarrierInit::object_bytes, MbarrierInit::object_bytes});
  });
  return found;
}

}  // namespace

std::int64_t alignment(const Smem& s, const Target& target) {
  return target.cpu ? std::max<std::int64_t>(s.align, 64) : s.align;
}

SharedLayout shared_layout(const Body& kernel, const Target& target) {
  std::vector<Piece> all = pieces(kernel, target);
  std::stable_sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) { return a.align > b.align; });
  SharedLayout layout;
  for (const Piece& piece : all) {
    layout.bytes = (layout.bytes + piece.align - 1) / piece.align * piece.align;
    layout.offset[piece.name] = layout.bytes;
    layout.bytes += piece.bytes;
  }
  layout.dynamic = target.dialect == Dialect::cuda && layout.bytes > static_limit;
  return layout;
}

}  // namespace deplo::ir
