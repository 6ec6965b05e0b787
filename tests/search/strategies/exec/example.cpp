#include "search/strategies/exec/example.h"

#include <cstdlib>

namespace deplo::search::exec {
namespace {

// Without site packages, which these programs do not need, python3 starts in half the time.
std::string python(const std::string& what) { return "exec:PYTHONDONTWRITEBYTECODE=1 exec python3 -S " + what; }

}  // namespace

bool has_python() {
  static const bool has = std::system("python3 -S -c '' > /dev/null 2>&1") == 0;
  return has;
}

std::string example(const std::string& name, const std::string& arguments) {
  return python("'" DEPLO_SOURCE_DIR "/examples/strategies/" + name + ".py' " + arguments);
}

std::string program(const std::string& text) {
  return python("-c 'import deplo_search, json, os, sys, time\nspace = deplo_search.connect()\n" + text + "'");
}

}  // namespace deplo::search::exec
