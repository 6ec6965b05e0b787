#include "measure/worker/redirected_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/error.h"
#include "measure/worker/single_launch.h"

namespace deplo::measure::worker {

RedirectedOutput::RedirectedOutput(int descriptor) : old_(dup(STDOUT_FILENO)) {
  std::fflush(stdout);
  if (old_ < 0 || dup2(descriptor, STDOUT_FILENO) < 0)
    throw Error(std::string("standard output: ") + std::strerror(errno), Exit::environment);
}

RedirectedOutput::~RedirectedOutput() {
  std::fflush(stdout);
  dup2(old_, STDOUT_FILENO);
  close(old_);
}

std::string printed_by(const std::function<void()>& work) {
  const SharedFile file;
  {
    const RedirectedOutput output(file.descriptor());
    work();
  }
  return file.text();
}

}  // namespace deplo::measure::worker
