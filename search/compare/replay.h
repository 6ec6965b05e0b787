// One run of a searcher on a recorded space, in the time that was recorded.
#pragma once
#include <cstdint>

#include "search/compare/curve.h"

namespace deplo::search::compare {

struct Replay {
  double seconds = 0;            // of recorded time: the evaluation that passes it is the last one
  std::int64_t evaluations = 0;  // but at least so many
  /// What a searcher is told is the mean of as many launches as were recorded, drawn from them with replacement, in
  /// the ratio that the recorded time has to the mean of all; other objectives are told as recorded. A configuration tells the same throughout a run. The
  /// best so far is then what the searcher must believe in, its rank the recorded one.
  bool noisy = false;
  /// 0: evaluations follow one another. Else so many compilers work beside one device: asked one by one as a compiler
  /// gets free, at most one more at a time than there are compilers, so that none waits for the device for long;
  /// told when the device is done.
  std::size_t workers = 0;
};

/// Deterministic. `seed` is of the noise.
/// An evaluation with effort e takes ⌈e n⌉ of the n recorded launches: it costs so much less, and tells their mean,
/// drawn without replacement (but for `noisy`). Building counts once for a configuration, verification and overheads
/// each time. The best so far is search/loop.h's Incumbent.
Steps replay(const TableSpace&, const Landscape&, Searcher&, const Replay&, std::uint64_t seed);

}  // namespace deplo::search::compare
