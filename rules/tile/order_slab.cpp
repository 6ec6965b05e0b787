// order_slab: keeps the order of the source in a slab whose rows a matmul's threads walk across. Otherwise the slab is
// transposed so that the dimension that the columns walk comes last.
//   k_smem = Stage(k, …, slab=(s0:16@1, s1:128@0)): … load k_smem[a6, a4] …
//     →   k_smem = Stage(k, …, slab=(s0:128@0, s1:16@1)): … load k_smem[a4, a6] …
// In the source's order, TMA copies the slab with a swizzle pattern against bank conflicts, and cp.async copies it in
// pieces of 16 bytes; a thread then loads along the reduce axis. In a transposed slab, each element is copied
// separately, and a thread loads vectors of columns. Matrix instructions take either order, so for them the order that
// is copied in wide pieces comes first.
#include <algorithm>
#include <numeric>

#include "ir/types/float16.h"
#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

// the columns' dimension comes last, or the source's order is kept
constexpr const char *columns = "columns", *source = "source";

bool precedes(const ir::SlabAxis& a, const ir::SlabAxis& b) { return a.dim < b.dim; }

Verdict decide_order_slab(const ir::Program& program, const Target& target, const Pins& pins) {
  if (target.cpu) return Skip{"a CPU has no banks, and its vectors lie along the columns"};
  if (has_online_softmax(tile_of(program).body)) return Skip{"vectors of scores lie along the keys"};
  for (const Staged& staged : staged_buffers(program)) {
    const ir::Stage& stage = *staged.stage;
    if (has_rows_in_lines(stage)) continue;  // the rows always come first
    if (std::ranges::is_sorted(stage.slab, precedes) || pins.text(stage.source)) continue;
    // Matrix instructions read rows in either order, and TMA and cp.async copy wide pieces in the source's order.
    const bool factors = ir::is_float16(stage.dtype) || (program.allow_tf32 && stage.dtype == ir::DType::f32);
    if (target.mma && factors && find_matmul(program)) return Fork{stage.source, {Value{source}, Value{columns}}};
    return Fork{stage.source, {Value{columns}, Value{source}}};
  }
  if (pins.empty()) return Skip{"every slab has the order of its source"};
  return Apply{};
}

// Returns the positions of the slab's axes in the order of the source's dimensions.
std::vector<std::size_t> order_of(const ir::Stage& stage) {
  std::vector<std::size_t> order(stage.slab.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return precedes(stage.slab[a], stage.slab[b]); });
  return order;
}

template <class T>
void permute(std::vector<T>& list, const std::vector<std::size_t>& order) {
  const std::vector<T> before = list;
  for (std::size_t i = 0; i < order.size(); ++i) list[i] = before[order[i]];
}

void keep_order(ir::Program& program, const std::string& buffer, const std::vector<std::size_t>& order) {
  ir::for_each(program.body, [&](ir::Stmt& stmt) {
    auto* load = stmt.as<ir::Load>();
    auto* stage = stmt.as<ir::Stage>();
    if (load != nullptr && load->buffer == buffer) permute(load->index, order);
    if (stage == nullptr || stage->buffer != buffer) return;
    permute(stage->slab, order);
    for (std::size_t i = 0; i < order.size(); ++i) stage->slab[i].name = "s" + std::to_string(i);
  });
}

ir::Program apply_order_slab(ir::Program program, const Target&, const Pins& pins) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> orders;
  for (const Staged& staged : staged_buffers(program))
    if (pins.text(staged.stage->source) == source) orders.emplace_back(staged.stage->buffer, order_of(*staged.stage));
  for (const auto& [buffer, order] : orders) keep_order(program, buffer, order);
  return program;
}

}  // namespace

extern const Rule order_slab = {
    .name = "order_slab",
    .summary = "slabs that keep the order of their source",
    .knobs = {{"*", KnobType::text, columns}},
    .decide = decide_order_slab,
    .apply = apply_order_slab,
};

}  // namespace deplo::rules
