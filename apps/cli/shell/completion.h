// Completion scripts for shells, which know every command, every option and every closed set of values.
#pragma once
#include <string>

#include "apps/cli/command_line.h"

namespace deplo::apps {

/// Each function returns a script that completes both programs, deplo and deplo-tune.
std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);
std::string fish_completion(const CommandText& program);

}  // namespace deplo::apps
