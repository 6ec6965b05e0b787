// `deplo run`: a whole graph or a tile program through its kernels on a device, compared with the reference in double.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/run/device_options.h"
#include "core/progress.h"
#include "engine/compile/tuned.h"
#include "engine/source/source.h"
#include "ir/types.h"
#include "measure/protocol/interval.h"
#include "measure/protocol/sampling.h"

namespace deplo::apps {

struct RunOptions : DeviceOptions {
  engine::Source source;
  bool no_measure = false;                    // the device's clock is not asked: the report has no times
  std::optional<std::string> reference = {};  // of a tile program: an expression of its arrays, in place of its blocks
  std::optional<std::string> outputs = {};    // the folder that they are written to, as 0.npy, 1.npy, …, of arrays
                                              // as NAME.npy
  bool whole = false;   // all kernels are timed, and the outputs compared with its kernels' one by one in place of the
                        // reference
  bool blocks = false;  // a tile program that has kernels runs block by block, too
  double limit = 60;    // seconds that a program may take block by block
};

struct KernelLaunch {
  std::string name;
  std::size_t first = 0;  // the kernel of the list that it is equal to; itself where it is the first
  engine::Origin origin = engine::Origin::heuristic;  // of the schedule, and as of Schedule the next three
  double measured_us = 0;
  std::string from, note;
  std::string trail;
  double microseconds = 0;  // of one launch; 0: not measured
  double flops = 0, bytes = 0;
};

struct OutputCheck {
  std::string name;
  ir::Shape shape;
  double error = 0;   // the largest, relative to its scale; infinite: a NaN, an infinity
  std::string worst;  // "[0, 17]: expected 1.5, found nan"
  bool right = false;
};

/// Of a tile program that ran block by block.
struct BlocksLaunch {
  std::string entry;
  std::string why;  // it has no kernels, in one line
  std::array<std::int64_t, 3> grid = {};
  std::int64_t threads = 0;  // of a block
  double microseconds = 0;   // 0: not measured
  std::string printed;
};

/// What NVIDIA's compiler makes of a tile program, timed in turns with all kernels of ours.
struct WholeBaseline {
  std::string version;
  std::string failure;  // in one line, in place of the next
  measure::Timing timing;
  double ratio = 0;                 // the median of its time over ours, round by round: above 1 ours is faster
  measure::Interval interval = {};  // 95 %, of that median
};

struct RunReport {
  std::string device, target, store;
  std::uint64_t seed = 0;
  double tolerance = 0;
  bool timed = true;                          // false: RunOptions::no_measure
  double buffer_bytes = 0, tensor_bytes = 0;  // of all slots; of all tensors, were none to share
  std::vector<KernelLaunch> kernels;
  std::optional<BlocksLaunch> blocks;  // in place of kernels; the outputs are then the arrays that changed
  std::vector<OutputCheck> outputs;
  std::string protocol;                  // of the next
  std::optional<measure::Timing> whole;  // of all kernels in one chain
  std::optional<WholeBaseline> beside;   // of a tile program on a CUDA device
  bool right() const;
};

/// Throws Error: of the user where the source or the options are wrong; of the environment where the device, memory or
/// a compiler fails, with the kernel's name.
RunReport run(const RunOptions&, Progress&);

/// The largest error of an element, as measure/check/verdict.h says. `rounding`: how far rounding may take each
/// element, or empty.
OutputCheck compare_output(const ir::Numbers& found, const std::vector<double>& expected, const ir::TensorType&,
                           double tolerance, std::span<const double> rounding = {});

/// For a window of that many columns; 0: no limit.
std::string print_table(const RunReport&, std::size_t width);
std::string print_json(const RunReport&);

}  // namespace deplo::apps
