// Text that a user can look up: the names of OpenCL's error codes, and the first lines of a compiler's log.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <array>
#include <string_view>
#include <vector>

#include "core/text/split.h"
#include "core/text/text.h"
#include "measure/opencl/opencl.h"

namespace deplo::measure {

namespace {

struct ErrorName {
  int code;
  const char* name;
};
#define DEPLO_NAME(name) \
  ErrorName { name, #name }
constexpr std::array error_names{
    DEPLO_NAME(CL_SUCCESS),
    DEPLO_NAME(CL_DEVICE_NOT_FOUND),
    DEPLO_NAME(CL_DEVICE_NOT_AVAILABLE),
    DEPLO_NAME(CL_COMPILER_NOT_AVAILABLE),
    DEPLO_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    DEPLO_NAME(CL_OUT_OF_RESOURCES),
    DEPLO_NAME(CL_OUT_OF_HOST_MEMORY),
    DEPLO_NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
    DEPLO_NAME(CL_MEM_COPY_OVERLAP),
    DEPLO_NAME(CL_BUILD_PROGRAM_FAILURE),
    DEPLO_NAME(CL_MAP_FAILURE),
    DEPLO_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    DEPLO_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    DEPLO_NAME(CL_COMPILE_PROGRAM_FAILURE),
    DEPLO_NAME(CL_LINKER_NOT_AVAILABLE),
    DEPLO_NAME(CL_LINK_PROGRAM_FAILURE),
    DEPLO_NAME(CL_INVALID_VALUE),
    DEPLO_NAME(CL_INVALID_DEVICE_TYPE),
    DEPLO_NAME(CL_INVALID_PLATFORM),
    DEPLO_NAME(CL_INVALID_DEVICE),
    DEPLO_NAME(CL_INVALID_CONTEXT),
    DEPLO_NAME(CL_INVALID_QUEUE_PROPERTIES),
    DEPLO_NAME(CL_INVALID_COMMAND_QUEUE),
    DEPLO_NAME(CL_INVALID_MEM_OBJECT),
    DEPLO_NAME(CL_INVALID_BINARY),
    DEPLO_NAME(CL_INVALID_BUILD_OPTIONS),
    DEPLO_NAME(CL_INVALID_PROGRAM),
    DEPLO_NAME(CL_INVALID_PROGRAM_EXECUTABLE),
    DEPLO_NAME(CL_INVALID_KERNEL_NAME),
    DEPLO_NAME(CL_INVALID_KERNEL_DEFINITION),
    DEPLO_NAME(CL_INVALID_KERNEL),
    DEPLO_NAME(CL_INVALID_ARG_INDEX),
    DEPLO_NAME(CL_INVALID_ARG_VALUE),
    DEPLO_NAME(CL_INVALID_ARG_SIZE),
    DEPLO_NAME(CL_INVALID_KERNEL_ARGS),
    DEPLO_NAME(CL_INVALID_WORK_DIMENSION),
    DEPLO_NAME(CL_INVALID_WORK_GROUP_SIZE),
    DEPLO_NAME(CL_INVALID_WORK_ITEM_SIZE),
    DEPLO_NAME(CL_INVALID_GLOBAL_OFFSET),
    DEPLO_NAME(CL_INVALID_EVENT_WAIT_LIST),
    DEPLO_NAME(CL_INVALID_EVENT),
    DEPLO_NAME(CL_INVALID_OPERATION),
    DEPLO_NAME(CL_INVALID_BUFFER_SIZE),
    DEPLO_NAME(CL_INVALID_GLOBAL_WORK_SIZE),
    DEPLO_NAME(CL_INVALID_PROPERTY),
    DEPLO_NAME(CL_INVALID_COMPILER_OPTIONS),
    DEPLO_NAME(CL_INVALID_LINKER_OPTIONS),
};
#undef DEPLO_NAME

}  // namespace

std::string opencl_error_name(int code) {
  for (const ErrorName& error : error_names)
    if (error.code == code) return error.name;
  return "OpenCL error " + std::to_string(code);
}

std::string first_lines(const std::string& log) {
  constexpr std::size_t max_lines = 6;   // two errors, each with its source line and its caret
  constexpr std::size_t max_size = 600;  // keeps a row of the store readable
  std::vector<std::string> lines;
  for (const std::string_view line : split_at(log, '\n'))
    if (!line.empty() && lines.size() < max_lines) lines.emplace_back(line);
  return join(lines, " | ").substr(0, max_size);
}

}  // namespace deplo::measure
