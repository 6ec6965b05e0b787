// `deplo compile`: one kernel, one schedule, the text at one of the levels.
#pragma once
#include <string>

#include "ir/program.h"

namespace deplo::apps {

struct CompileOptions {
  std::string kernel;
  ir::Symbols symbols;
  std::string target;  // a name under configs/targets; "": sm_90 for cuda, else opencl-cpu
  std::string level = "opencl";
  std::string schedule;  // a trail; the heuristic decides what it leaves open
  int verbose = 0;       // 1: what each rule did in one line; 2: with the difference it made
};

/// What the command prints.
std::string compile(const CompileOptions&);

}  // namespace deplo::apps
