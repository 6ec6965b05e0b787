// `deplo compile`: a graph, a kernel or a tile program, and its text at one of the levels.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/source/load.h"

namespace deplo::apps {

struct CompileOptions {
  engine::KernelSelection selection;
  std::optional<std::string> passes;  // "d", "do", "dol", "dolm"
  bool guard = true;
  bool summary = false;              // the table of kernels in place of their text
  std::string target;                // a name under configs/targets; "": sm_90 for what is CUDA's, else opencl-cpu
  std::string level;                 // "": loop for the summary, tile-program without a launch, else opencl
  std::string schedule;              // a trail; the heuristic decides what it leaves open
  std::optional<std::string> tuned;  // the store that schedules come from; "": the user's own
  std::string tuned_on;              // a part of the name of the device that they were measured on
  bool nearest = false;              // the schedule of the nearest extents before the heuristic's
  bool require_tuned = false;        // an Error for a kernel that has no measured schedule
  bool smem = false;                 // a drawing of the staged buffers in the banks, in place of a level
  bool resources = false;            // a table of what the machine code takes, in place of a level
  bool instructions = false;         // tables of its instructions, in place of a level
  bool tileiras = false;             // with what NVIDIA's compiler makes of the tile program
  bool blocks = false;               // of a launch that has kernels too, the one that is lowered block by block
  int verbose = 0;                   // 1: what each rule did in one line; 2: with the difference it made
  std::size_t width = 0;             // of the window, in columns; 0: no limit
};

/// What the command prints. Throws Error for options that do not go together.
std::string compile(CompileOptions);

}  // namespace deplo::apps
