// NVRTC 12.4 for the tests: the NVRTC 13 of the process, with another version number.
#include <dlfcn.h>

#include <cstddef>

namespace {

template <class F>
F real(const char* name) {
  static void* const library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<F>(dlsym(library, name));
}

using Program = struct OpaqueProgram*;
using Get = int (*)(Program, char*);
using GetSize = int (*)(Program, std::size_t*);

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 4;
  return 0;
}
int nvrtcGetNumSupportedArchs(int* count) { return real<int (*)(int*)>("nvrtcGetNumSupportedArchs")(count); }
int nvrtcGetSupportedArchs(int* all) { return real<int (*)(int*)>("nvrtcGetSupportedArchs")(all); }
int nvrtcCreateProgram(Program* program, const char* source, const char* name, int count, const char* const* headers,
                       const char* const* names) {
  return real<int (*)(Program*, const char*, const char*, int, const char* const*, const char* const*)>(
      "nvrtcCreateProgram")(program, source, name, count, headers, names);
}
int nvrtcDestroyProgram(Program* program) { return real<int (*)(Program*)>("nvrtcDestroyProgram")(program); }
int nvrtcCompileProgram(Program program, int count, const char* const* options) {
  return real<int (*)(Program, int, const char* const*)>("nvrtcCompileProgram")(program, count, options);
}
int nvrtcAddNameExpression(Program program, const char* expression) {
  return real<int (*)(Program, const char*)>("nvrtcAddNameExpression")(program, expression);
}
int nvrtcGetLoweredName(Program program, const char* expression, const char** name) {
  return real<int (*)(Program, const char*, const char**)>("nvrtcGetLoweredName")(program, expression, name);
}
int nvrtcGetProgramLogSize(Program program, std::size_t* size) {
  return real<GetSize>("nvrtcGetProgramLogSize")(program, size);
}
int nvrtcGetProgramLog(Program program, char* text) { return real<Get>("nvrtcGetProgramLog")(program, text); }
int nvrtcGetCUBINSize(Program program, std::size_t* size) { return real<GetSize>("nvrtcGetCUBINSize")(program, size); }
int nvrtcGetCUBIN(Program program, char* code) { return real<Get>("nvrtcGetCUBIN")(program, code); }
int nvrtcGetPTXSize(Program program, std::size_t* size) { return real<GetSize>("nvrtcGetPTXSize")(program, size); }
int nvrtcGetPTX(Program program, char* text) { return real<Get>("nvrtcGetPTX")(program, text); }
}
