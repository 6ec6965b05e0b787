// The eight kinds of files that users give to deplo: sound examples, how they are damaged, and who reads them.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/rng.h"

namespace deplo::attack {

/// A command line of deplo. FILE stands for the damaged file, COPY for a copy of it that may be written to, TEXT for
/// its contents, OUT for a file that does not exist yet, GOOD for the kind's first seed, undamaged.
struct Command {
  std::vector<std::string> words;
  int one_in = 1;  // runs in one of this many cases, chosen at random
};

struct Seed {
  std::string name;  // name of the damaged file; its extension says what the file is
  std::string bytes;
  std::vector<Command> commands;
  /// Returns what is wrong with deplo's reading of the file; "" if nothing. Throws Error if deplo refuses the file.
  std::function<std::string(const std::filesystem::path&)> check = {};
};

struct Kind {
  std::string name;
  std::vector<Seed> seeds;
  /// Returns the seed's bytes, damaged. `other` has another seed's bytes; `folder` is a place for temporary files.
  std::function<std::string(const Seed&, const std::string& other, Rng&, const std::filesystem::path& folder)> damage;
  bool may_change = false;  // readers of the file may write to it
};

Kind exported_programs();  // .pt2
Kind loop_kernels();       // .loop
Kind yaml_files();         // experiments and models
Kind recorded_spaces();    // Kernel Tuner, T4, CSV, also compressed; lines of baselines; comparisons
Kind stores();             // SQLite
Kind texts();              // expressions, trails, restrictions
Kind tile_programs();      // text and bytecode
Kind ptx_modules();        // has no seeds if NVRTC is missing

std::string read_bytes(const std::filesystem::path&);
void write_bytes(const std::filesystem::path&, const std::string&);

/// The file of a graph.
struct Source {
  std::filesystem::path pt2, expression;  // exactly one is set
};
/// Runs the graph on the interpreter if it is small, and compares it with the reference in double. Returns and throws
/// what Seed::check does.
std::string check_graph(const Source&);

}  // namespace deplo::attack
