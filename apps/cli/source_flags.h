// The flags for the source that is compiled, run or timed.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/command.h"
#include "engine/source/load.h"

namespace deplo::apps {

/// The flags of engine::source_options(), as they were given.
struct OptionFlags {
  std::map<std::string_view, std::optional<std::string>> texts;  // by the option's name
  std::map<std::string_view, bool> switches;

  /// Parses the flags. Throws an Error that names the flag.
  engine::SourceOptions read() const;
  std::string command_line() const;  // the given flags, such as " --dtype f16 --allow-tf32"
};
void add_source_options(Command command, OptionFlags&);

/// The flags as they were given. The command line refuses flags that cannot be combined.
struct SourceFlags {
  std::optional<std::string> code, file, pt2, model;
  std::optional<std::int64_t> layer, seq;  // of a model's block
  std::optional<std::string> init;         // the file's function that returns the arguments of Model's constructor
  std::string inputs_function = "get_inputs";
  std::vector<std::string> settings;   // new values of constants of the file, each NAME=VALUE
  std::string kernel;                  // "": none
  std::vector<std::string> symbols;    // sizes of the symbols of a kernel, expression or .pt2, each NAME=SIZE
  engine::TileSource tile;             // its file is "" if there is none
  engine::foreign::Files file_kernel;  // its space is "" if there is none
  std::optional<std::string> only;     // selects kernels of a graph or a tile program
  OptionFlags options;

  /// With --init, the value of --inputs may name a function of the file; then `inputs` becomes empty.
  void take_inputs_function(std::string& inputs);
  /// Returns true if no flag names a source.
  bool is_empty() const;
  /// Returns the graph, tile program or kernel file. Throws Error if no flag names one, or for options that the source
  /// does not take.
  engine::Source program() const;
  /// Returns the graph, tile program, kernel file or kernel. Throws the same Errors.
  engine::KernelSelection selection() const;
};

/// Returns the flag that names such a source, such as "--kernel".
std::string flag_of(engine::SourceKind);

/// Adds the flags that name a source and those of engine::source_options(): -c, --file, --pt2, --model, --layer, --seq,
/// --kernel, --symbol, and those of a tile program and a kernel file.
void add_source_flags(Command command, SourceFlags&);
/// Adds --space and --kernel-file.
void add_kernel_file_flags(Command command, engine::foreign::Files&);
/// Adds --configuration of a kernel file, which needs --space.
void add_configuration(Command command, std::string& configuration);
/// Adds the flags for SourceFlags::program(): those of add_source_flags() without --kernel, and --init and --set.
void add_program_flags(Command command, SourceFlags&);
/// Adds the flags for SourceFlags::selection(): those of add_source_flags(), and --init, --set and --only.
void add_selection_flags(Command command, SourceFlags&);
/// Adds --inputs as the name of the function that makes the inputs for --init, for a command that takes no values of
/// inputs.
void add_inputs_function(Command command, SourceFlags&);

}  // namespace deplo::apps
