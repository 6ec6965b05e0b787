// Converts SVG to PNG and PDF with librsvg and cairo. They are opened at run time, so that the program starts without
// their thirty libraries, and works without PNG and PDF if they are not installed.
#pragma once
#include <string>

#include "apps/report/svg.h"

namespace deplo::apps::report {

/// Writes the picture to the file, with 3 x 3 pixels for each pixel of the picture. Throws Error(environment) if the
/// libraries are missing (with how to get them), if they refuse the picture, or if the file cannot be written.
void write_png(const Picture&, const std::string& file);

/// The same as a PDF page of the picture's size, at 96 pixels per inch. Text stays text. The same picture gives the
/// same bytes.
void write_pdf(const Picture&, const std::string& file);

}  // namespace deplo::apps::report
