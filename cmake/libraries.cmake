# All libraries come from the distribution (scripts/packages.txt). README.md says what each is for.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenCL REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(pugixml REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
pkg_check_modules(libzip REQUIRED IMPORTED_TARGET libzip)
find_library(XGBOOST_LIBRARY xgboost REQUIRED)  # Debian's xgboost-config.cmake requires a program that no package contains
find_path(XGBOOST_INCLUDE xgboost/c_api.h REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

# Optional: NVRTC compiles the emitted CUDA C++. It is opened with dlopen, so nothing is linked.
find_library(DEPLO_NVRTC nvrtc HINTS /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib)
if(NOT DEPLO_NVRTC)
  message(NOTICE "deplo: no CUDA toolkit (NVRTC) found: the tests that compile CUDA are skipped; everything else works")
endif()
