// SVG as pixels and as PDF, by librsvg and cairo, which are opened at run time: a program that draws neither starts
// without their thirty libraries, and works where they are not installed.
#pragma once
#include <string>

#include "apps/report/svg.h"

namespace deplo::apps::report {

/// Writes the picture, three pixels for each of its own, to the file. Throws Error(environment) where the libraries
/// are missing (and how to get them), where they do not take the picture, or where the file cannot be written.
void write_png(const Picture&, const std::string& file);

/// The same as a page of its size, 96 of its pixels to an inch, text as text. The same picture gives the same bytes.
void write_pdf(const Picture&, const std::string& file);

}  // namespace deplo::apps::report
