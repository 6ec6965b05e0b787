// dot_pairs: computes the sum of a matmul by dot products of pairs, two iterations at once (ir/hardware/pairs.h).
//   b_smem = Stage(b, …) lanes=16                 →   b_smem = Stage(b, …) lanes=16 pairs, of bf16
//   for a7 in 0..256: # reduce                        for a7 in 0..256: # reduce pairs
// The slabs keep their 16-bit elements, because the instruction multiplies them without conversion.
#include "ir/hardware/pairs.h"

#include <algorithm>

#include "ir/walk.h"
#include "rules/analysis/matmul.h"
#include "rules/analysis/tile.h"
#include "rules/cost/resources.h"
#include "rules/rule.h"
#include "rules/tile/helpers/stages.h"

namespace deplo::rules {
namespace {

using ir::pairs::Product;

// Returns whether the slab can store its elements in pairs. Two rows are copied at once, so no row may exceed the
// source.
bool takes_pairs(ir::Stage stage, const ir::Buffer& source, const ir::Ranges& scope) {
  stage.dtype = source.dtype;
  const auto over = [&](const ir::SlabAxis& axis) {
    return !axis.walks_dimension() || reaches_over(stage, static_cast<std::size_t>(axis.dim), source, scope);
  };
  return ir::pairs::fault(stage, source).empty() && std::ranges::none_of(stage.slab, over);
}

// Returns the program with dot products. If there are none to make, returns nullopt and sets `why` to the reason.
std::optional<ir::Program> with_pairs(ir::Program program, std::string& why) {
  const auto matmul = find_matmul(program);
  if (!matmul) return why = "no matmul-shaped reduce loop", std::nullopt;
  Product product;
  if (why = ir::pairs::find_product(program, *matmul->reduce, product); !why.empty()) return std::nullopt;
  const std::string a = product.a->buffer, b = product.b->buffer;
  std::int64_t reads = 0;
  ir::for_each<ir::Load>(program.body, [&](const ir::Load& load) {
    reads += load.buffer == b || (load.buffer == a && program.find(a) == nullptr);
  });
  if (reads != (program.find(a) == nullptr ? 2 : 1)) return why = "a slab is also read elsewhere", std::nullopt;
  bool fits = program.find(b) == nullptr;
  for (const Staged& staged : staged_buffers(program))
    if (staged.stage->buffer == b)
      fits &= takes_pairs(*staged.stage, *program.find(staged.stage->source), staged.scope);
  if (!fits) return why = "no staged operand of bf16 whose rows come in pairs", std::nullopt;
  edit_stages(program.body, a, [&](ir::Stage& stage) { stage.dtype = program.find(stage.source)->dtype; });
  edit_stages(program.body, b, [&](ir::Stage& stage) {
    stage.dtype = ir::DType::bf16;
    stage.pairs = true;
    stage.lanes = ir::pairs::along_rows(stage, *program.find(stage.source)) ? ir::pairs::lanes : 1;
  });
  to_edit(program, *find_matmul(program)->reduce).pairs = true;
  CHECK(ir::pairs::find_product(program, *find_matmul(program)->reduce, product).empty());
  why = ir::pairs::fault(program, product);
  return why.empty() ? std::optional(std::move(program)) : std::nullopt;
}

Verdict decide_dot_pairs(const ir::Program& program, const Target& target, const Pins& pins) {
  if (!target.dot_pairs) return Skip{"no dot products of pairs on this target (CPUs with AVX512_BF16 have them)"};
  std::string why;
  if (!with_pairs(program, why)) return Skip{std::move(why)};
  const auto apply = pins.on_off("apply");
  if (!apply) return on_off_fork("apply", target.fast_pairs);
  if (!*apply) return Skip{"apply=0: products of f32"};
  return Apply{};
}

ir::Program apply_dot_pairs(ir::Program program, const Target&, const Pins&) {
  std::string why;
  return with_pairs(std::move(program), why).value();
}

}  // namespace

extern const Rule dot_pairs = {
    .name = "dot_pairs",
    .summary = "products of bf16 on CPUs, two at once",
    .knobs = {{"apply", KnobType::on_off, 0}},
    .decide = decide_dot_pairs,
    .apply = apply_dot_pairs,
};

}  // namespace deplo::rules
