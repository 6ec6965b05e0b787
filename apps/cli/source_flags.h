// The flags that say what is compiled, run or timed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/command.h"
#include "engine/source/experiment.h"
#include "engine/source/kernel_selection.h"

namespace deplo::apps {

/// As they were given; what they say must be one thing.
struct SourceFlags {
  std::optional<std::string> code, file, pt2, model;
  std::optional<std::int64_t> layer, seq;  // of a model's block
  std::string kernel;                      // "": none
  std::vector<std::string> symbols;        // of the kernel, each NAME=SIZE
  engine::TileSource tile;                 // with file "": none
  std::optional<std::string> only;         // of the kernels of a graph or a tile program
  std::optional<std::string> dtype;        // of floats whose type the source leaves open
  bool allow_tf32 = false;                 // of the kernels that multiply f32
  std::optional<std::string> attention;    // as one kernel, or not
  std::optional<std::string> key_parts;    // of an attention in one kernel

  /// None was given that names a source.
  bool is_empty() const;
  /// Of a source that leaves them open.
  engine::Floats floats() const;
  /// A graph, where there is no tile program. Throws Error unless exactly one is given, and what goes with it.
  engine::GraphSource graph() const;
  /// A graph, a kernel or a tile program; the same.
  engine::KernelSelection selection() const;
};

/// -c, --file, --pt2, --model, --layer and --seq; --kernel and --symbol; --tile, --entry, --arg and --grid; --only,
/// --dtype, --allow-tf32, --attention and --key-parts.
void add_source_flags(Command command, SourceFlags&);
/// --allow-tf32 alone.
void add_allow_tf32(Command command, bool& allow_tf32);

}  // namespace deplo::apps
