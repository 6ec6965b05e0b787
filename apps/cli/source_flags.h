// The flags that say what is compiled, run or timed.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/command.h"
#include "engine/source/experiment.h"
#include "engine/source/load.h"

namespace deplo::apps {

/// The flags of engine::source_options(), as they were given.
struct OptionFlags {
  std::map<std::string_view, std::optional<std::string>> texts;  // by the option's name
  std::map<std::string_view, bool> switches;

  /// Throws Error that names the flag.
  engine::SourceOptions read() const;
  std::string command_line() const;  // " --dtype f16 --allow-tf32"
};
void add_source_options(Command command, OptionFlags&);

/// As they were given; what they say must be one thing.
struct SourceFlags {
  std::optional<std::string> code, file, pt2, model;
  std::optional<std::int64_t> layer, seq;  // of a model's block
  std::string kernel;                      // "": none
  std::vector<std::string> symbols;        // of the kernel, each NAME=SIZE
  engine::TileSource tile;                 // with file "": none
  std::optional<std::string> only;         // of the kernels of a graph or a tile program
  OptionFlags options;

  /// None was given that names a source.
  bool is_empty() const;
  /// A graph, where there is no tile program. Throws Error unless exactly one is given, and what goes with it.
  engine::Source graph() const;
  /// A graph, a kernel or a tile program; the same.
  engine::KernelSelection selection() const;
};

/// -c, --file, --pt2, --model, --layer and --seq; --kernel and --symbol; --tile, --entry, --arg and --grid; those
/// of engine::source_options(); --only.
void add_source_flags(Command command, SourceFlags&);
}  // namespace deplo::apps
