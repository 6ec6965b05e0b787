// The smallest runtime that can run a deplo::Program: its launches on the first OpenCL device with the program's name.
#pragma once
#include <deplo/program.h>

#include <map>
#include <string>
#include <vector>

/// Of f32 tensors only. `inputs`: the values of every input and parameter of the graph by name, row-major. The outputs'
/// values, row-major. Throws std::runtime_error.
std::vector<std::vector<float>> run(const deplo::Program&, const std::map<std::string, std::vector<float>>& inputs);
