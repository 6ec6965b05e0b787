// The smallest runtime that can run a deplo::Program: its launches on the first OpenCL device with the program's name,
// or on the first of all where the program has none.
#pragma once
#include <deplo/program.h>

#include <map>
#include <string>
#include <vector>

/// `inputs`: the values of every input and parameter of the graph by name, row-major, as floats whatever the dtype. The
/// outputs' values, likewise. Throws std::runtime_error.
std::vector<std::vector<float>> run(const deplo::Program&, const std::map<std::string, std::vector<float>>& inputs);
