// The eight kinds of files that people give to deplo: sound examples, what is done to them, and who reads them.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/rng.h"

namespace deplo::attack {

/// A command line of deplo. FILE stands for the damaged file, COPY for a copy of it that may be written to, TEXT for
/// what is in it, OUT for a file that is not there yet, GOOD for the kind's first seed as it is.
struct Command {
  std::vector<std::string> words;
  int one_in = 1;  // of so many cases, by chance
};

struct Seed {
  std::string name;  // its extension is the file's: it says what the file is
  std::string bytes;
  std::vector<Command> commands;
  /// What is wrong with what deplo makes of the file; "" where nothing is. Throws Error where it refuses the file.
  std::function<std::string(const std::filesystem::path&)> check = {};
};

struct Kind {
  std::string name;
  std::vector<Seed> seeds;
  /// The seed's bytes, damaged. `other` is another seed's; `folder` a place for files.
  std::function<std::string(const Seed&, const std::string& other, Rng&, const std::filesystem::path& folder)> damage;
  bool may_change = false;  // the readers of the file may write to it
};

Kind exported_programs();  // .pt2
Kind loop_kernels();       // .loop
Kind yaml_files();         // experiments and models
Kind recorded_spaces();    // Kernel Tuner, T4, CSV, compressed ones; lines of baselines, comparisons
Kind stores();             // SQLite
Kind texts();              // expressions, trails, restrictions
Kind tile_programs();      // text and bytecode
Kind ptx_modules();        // without NVRTC it has no seeds

std::string read_bytes(const std::filesystem::path&);
void write_bytes(const std::filesystem::path&, const std::string&);

/// Runs the graph on the interpreter, where it is small, beside the reference in double; as Seed::check.
struct Source {
  std::filesystem::path pt2, expression;  // one of them
};
std::string check_graph(const Source&);

}  // namespace deplo::attack
