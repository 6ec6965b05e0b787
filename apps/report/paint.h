// SVG as a picture of pixels, by librsvg and cairo, which are opened at run time: a program that draws no PNG starts
// without their thirty libraries, and works where they are not installed.
#pragma once
#include <string>

namespace deplo::apps {

/// Writes the picture, three pixels for each of the SVG's, to the file. Throws Error(environment) where the libraries
/// are missing (and how to get them), where they do not take the picture, or where the file cannot be written.
void write_png(const std::string& svg, double width, double height, const std::string& file);

}  // namespace deplo::apps
