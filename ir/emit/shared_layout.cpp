#include "ir/emit/shared_layout.h"

#include <algorithm>
#include <vector>

#include "ir/emit/dialect.h"
#include "ir/hardware/gpu.h"
#include "ir/walk.h"

namespace deplo::ir {
namespace {

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
  if (const std::int64_t locals = block_shared_bytes(kernel); locals > 0)
    found.push_back({shared_memory, locals, local_alignment});
  return found;
}

}  // namespace

std::int64_t block_shared_bytes(const Body& kernel) {
  std::int64_t end = 0;
  for_each<Local>(kernel, [&](const Local& s) {
    if (s.space == Space::shared) end = std::max(end, s.offset + s.count * local_bytes(s.dtype));
  });
  return (end + local_alignment - 1) / local_alignment * local_alignment;
}

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
  layout.dynamic = speller(target.dialect).ptx && layout.bytes > gpu::static_shared_bytes;
  return layout;
}

}  // namespace deplo::ir
