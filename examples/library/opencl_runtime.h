// A minimal runtime for a deplo::Program. It runs the program's launches on the first OpenCL device with the program's
// device name or, if the program has none, on the first device of all.
#pragma once
#include <deplo/program.h>

#include <map>
#include <string>
#include <vector>

/// Runs the program. `inputs`: the values of every input and parameter of the graph by name, row-major, as floats
/// whatever the dtype. Returns the values of the outputs in the same form. Throws std::runtime_error.
std::vector<std::vector<float>> run(const deplo::Program&, const std::map<std::string, std::vector<float>>& inputs);
