// Drawn tile programs (rules/trails/tile_draw.cpp), lowered block by block. PoCL's results are compared with the
// interpreter's. All numbers are whole, so the results are equal.
#include <gtest/gtest.h>

#include "core/rng.h"
#include "measure/tile_program/both.h"
#include "rules/trails/tile_case.h"

namespace deplo::measure {
namespace {

TEST(DrawnTilePrograms, BlockByBlock) {
  constexpr int of_each_kind = 2;  // each is built three times, in a fifth of a second each
  for (const rules::TileKind& kind : rules::drawn_tile_kinds())
    for (std::uint64_t draw = 1; draw <= of_each_kind; ++draw) {
      Rng rng(draw);
      ir::Symbols symbols;
      for (const auto& [symbol, most] : kind.symbols)
        symbols[symbol] = 1 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most)));
      rules::TileSubject subject = kind.make(symbols, draw);
      Both both(std::move(subject.program));
      both.launcher = std::move(subject.launch.launcher);
      both.threads = {1, 8};
      both.interprets = draw == 1;
      both.architectures = {"sm_90"};
      both.expect_equal(subject.launch.raised.grid, subject.tolerance);
      if (HasFailure()) FAIL() << kind.name << ", program " << draw;
    }
}

}  // namespace
}  // namespace deplo::measure
