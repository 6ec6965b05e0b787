// `deplo run`: runs the kernels of a whole graph, a tile program or a kernel file on a device, and compares the outputs
// with a reference that does not depend on their schedules.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/run/device_flags.h"
#include "core/progress.h"
#include "engine/compile/tuned.h"
#include "engine/source/source.h"
#include "ir/interpret/proof.h"
#include "ir/types/types.h"
#include "measure/protocol/interval.h"
#include "measure/protocol/problem.h"
#include "measure/protocol/sampling.h"

namespace deplo::apps {

struct RunOptions : DeviceOptions {
  engine::Source source;
  bool no_measure = false;                    // do not read the device's clock; the report has no times
  std::optional<std::string> reference = {};  // an expression of a tile program's arrays, used instead of its blocks
  std::optional<std::string> outputs = {};  // path for OutputFiles: 0.npy, 1.npy, … for a graph, NAME.npy for arrays
  bool fingerprint = false;                 // also compute the fingerprint of each kernel
  bool whole = false;  // time the chain of all kernels, and compare its outputs with those of single launches instead
                       // of the reference
  double limit = 60;   // seconds that a program block by block, or a kernel file's kernel, may take
  std::string configuration = {};  // of a kernel file: NAME=VALUE,…; "": as tuned, else the defaults
};

struct KernelLaunch : engine::Provenance {
  std::string name;
  std::size_t first = 0;  // index of the first equal kernel in the list; its own if there is none
  std::string trail;
  double microseconds = 0;  // of one launch; 0: not measured
  double flops = 0, bytes = 0;
  std::string proof = {};                              // as in engine::Schedule
  std::string fingerprint = {}, row_fingerprint = {};  // print(ir::Fingerprint); "": not asked for
  /// For a kernel file: measure::describe(Launch), and the origin of the configuration: "tuned", "default" or "given".
  std::string launch = {}, configuration = {};
};

struct OutputCheck {
  std::string name;
  ir::Shape shape;
  double error = 0;   // the largest error, relative to the scale; infinite: for example a NaN or an infinity
  std::string worst;  // the element with that error, such as "[0, 17]: expected 1.5, found nan"
  bool right = false;
};

/// The launch of a tile program that ran block by block.
struct BlocksLaunch {
  std::string entry;
  std::string why;  // why it did not run as kernels, in one line
  std::array<std::int64_t, 3> grid = {};
  std::int64_t threads = 0;  // of a block
  double microseconds = 0;   // 0: not measured
  std::string printed;
  engine::Origin origin = engine::Origin::heuristic;  // of its schedule
  std::string note;                                   // as in engine::OpaqueSchedule
};

/// The kernel that NVIDIA's compiler builds from a tile program, timed in alternation with the chain of all deplo's
/// kernels.
struct WholeBaseline {
  std::string version;
  std::string failure;  // in one line; "": it has a timing
  measure::Timing timing;
  double ratio = 0;  // median over the rounds of this kernel's time / deplo's time; above 1: deplo is faster
  measure::Interval interval = {};  // 95 % interval of that median
};

struct RunReport {
  std::string device, target, store;
  std::uint64_t seed = 0;
  double tolerance = 0;
  bool timed = true;                          // false: RunOptions::no_measure
  double buffer_bytes = 0, tensor_bytes = 0;  // of all slots; of all tensors without sharing slots
  std::vector<KernelLaunch> kernels;
  std::string graph_trail, graph_note;  // as in engine::GraphSchedule
  std::optional<BlocksLaunch> blocks;   // instead of kernels; the outputs are then the arrays that changed
  std::string printed;                  // text that a kernel file's kernel printed
  std::vector<OutputCheck> outputs;
  std::string protocol;                  // of `whole` and `beside`
  std::optional<measure::Timing> whole;  // the time of all kernels in one chain
  std::optional<WholeBaseline> beside;   // for a tile program on a CUDA device
  bool right() const;
};

/// What the PTX machine proves about each kernel's source (measure/ptx/prove.h).
struct ProofReport {
  struct Line {
    std::string kernel;
    ir::ProofVerdict verdict;
  };
  std::vector<Line> lines;
  bool refuted() const;
};

/// Runs the kernels of the source on a device of the PTX machine, in exact arithmetic. Throws Error as run() does.
ProofReport prove_emitted(const RunOptions&, Progress&);
std::string print_lines(const ProofReport&);

/// Runs the source. Throws Error if the source or the options are wrong; Error(environment) with the kernel's name if
/// the device, memory or a compiler fails.
RunReport run(const RunOptions&, Progress&);

/// Returns the report of a run that begins. `buffers`: those of the only kernel; {}: the caller counts their bytes.
RunReport begin_report(const RunOptions&, const measure::DeviceInfo&, const Target&,
                       const std::vector<ir::Buffer>& buffers);

/// Finds the largest error of an element, by the rules of measure/check/verdict.h. `rounding`: Expected::rounding of
/// each element, or empty.
OutputCheck compare_output(const ir::Numbers& found, const std::vector<double>& expected, const ir::TensorType&,
                           double tolerance, std::span<const double> rounding = {});
/// The same for the elements that the reference has, or for the sum of all elements.
OutputCheck compare_output(const ir::Numbers& found, const measure::Reference::Output& expected, const ir::Buffer&,
                           double tolerance);

/// Returns the tables. `width`: the window's width in columns; 0: no limit.
std::string print_table(const RunReport&, std::size_t width);
std::string print_json(const RunReport&);

}  // namespace deplo::apps
