// `deplo compile`: prints a graph, a kernel, a tile program or a kernel file at one of the levels.
#pragma once
#include <optional>
#include <string>

#include "engine/source/load.h"

namespace deplo::apps {

struct CompileOptions {
  engine::KernelSelection selection;
  std::optional<std::string> passes;  // "d", "do", "dol", "dolm"
  bool no_guard = false;              // merge kernels regardless of the cost
  bool summary = false;               // print the table of kernels instead of their text
  std::string target;                 // a name under configs/targets; "": sm_90 for CUDA's levels, else opencl-cpu
  std::string level;                  // "": loop for the summary, tile-program without a launch, else source
  std::string schedule;               // a trail; the heuristic makes the decisions that it leaves open
  std::string configuration;          // for a kernel file: NAME=VALUE,…; other parameters have their defaults
  std::optional<std::string> tuned;   // the store in which schedules are looked up; "": the user's own
  std::string tuned_on;               // a part of the name of the device on which the schedules were measured
  bool nearest = false;               // prefer the schedule of the nearest extents to the heuristic's
  bool require_tuned = false;         // throw Error for a kernel without a measured schedule
  bool smem = false;                  // draw the staged buffers in the banks instead of printing a level
  bool prove = false;                 // instead of a level, print whether each schedule is proved
  bool resources = false;             // print a table of the machine code's resources instead of a level
  bool instructions = false;          // print tables of the machine code's instructions instead of a level
  bool tileiras = false;              // include the kernel that NVIDIA's compiler builds from the tile program
  int verbose = 0;                    // 1: print what each rule did in one line; 2: also the difference it made
  std::size_t width = 0;              // the window's width in columns; 0: no limit
};

/// Returns the command's output. Throws Error for options that cannot be combined.
std::string compile(CompileOptions);

}  // namespace deplo::apps
