// The precompiled header of all test programs (tests/CMakeLists.txt).
#include "../cmake/std.pch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
