#include "measure/store/process_name.h"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>

namespace deplo::measure {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/// Returns "BOOT NUMBER START"; "" if there is no such process, or if it is a zombie. START is the process's start in
/// clock ticks since the system's start: the system may reuse a number, but not a number with this time (proc(5),
/// /proc/PID/stat, fields 3 and 22).
std::string name_of(long number) {
  const std::string stat = first_line("/proc/" + std::to_string(number) + "/stat");
  std::size_t at = stat.rfind(')');  // the second field is the program's name, which may contain anything
  if (at == std::string::npos || stat.substr(at, 3) == ") Z") return "";
  for (int field = 2; field < 22; ++field) at = stat.find(' ', at + 1);
  const std::string start = stat.substr(at + 1, stat.find(' ', at + 1) - at - 1);
  return first_line("/proc/sys/kernel/random/boot_id") + ' ' + std::to_string(number) + ' ' + start;
}

}  // namespace

std::string host_name() {
  char text[256] = {};
  return gethostname(text, sizeof text - 1) == 0 ? text : "";
}

std::string this_process() { return name_of(getpid()); }

bool is_running(std::string_view process) {
  const std::size_t space = process.find(' ');
  if (space == std::string_view::npos) return false;
  long number = 0;
  std::from_chars(process.data() + space + 1, process.data() + process.size(), number);
  return number > 0 && name_of(number) == process;
}

}  // namespace deplo::measure
