#include "apps/report/paint.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "apps/cli/write_file.h"
#include "core/error.h"
#include "measure/cuda/library.h"

namespace deplo::apps::report {
namespace {

using measure::cuda::Library;
using measure::cuda::LibraryName;

const LibraryName rsvg_name{"librsvg", {"librsvg-2.so.2"}, "it is the distribution's package librsvg2-2"};
const LibraryName cairo_name{"cairo", {"libcairo.so.2"}, "it is the distribution's package libcairo2"};
const LibraryName gobject_name{"GLib", {"libgobject-2.0.so.0"}, "it is the distribution's package libglib2.0-0"};

constexpr double scale = 3;                              // pixels of the PNG per pixel of the SVG
constexpr double point = 72.0 / 96.0;                    // points of PDF per pixel of CSS
constexpr int argb32 = 0, success = 0, create_date = 5;  // CAIRO_FORMAT_ARGB32, _STATUS_SUCCESS, _PDF_METADATA_…

// Declarations of rsvg.h, cairo.h and glib-object.h, written by hand.
struct Rectangle {
  double x, y, width, height;
};
struct GError {
  std::uint32_t domain;
  int code;
  char* message;
};
using WriteFunction = int (*)(void* closure, const unsigned char* data, unsigned length);
struct Table {
  Library rsvg{rsvg_name}, cairo{cairo_name}, gobject{gobject_name};
  void* (*new_from_data)(const std::uint8_t* data, std::size_t length,
                         GError** error) = rsvg.find("rsvg_handle_new_from_data");
  int (*render_document)(void* handle, void* cairo, const Rectangle* viewport,
                         GError** error) = rsvg.find("rsvg_handle_render_document");
  void* (*surface_create)(int format, int width, int height) = cairo.find("cairo_image_surface_create");
  void* (*pdf_surface_create_for_stream)(WriteFunction, void* closure, double width,
                                         double height) = cairo.find("cairo_pdf_surface_create_for_stream");
  void (*pdf_surface_set_metadata)(void* surface, int which,
                                   const char* text) = cairo.find("cairo_pdf_surface_set_metadata");
  void (*surface_finish)(void* surface) = cairo.find("cairo_surface_finish");
  int (*surface_status)(void* surface) = cairo.find("cairo_surface_status");
  void (*surface_destroy)(void* surface) = cairo.find("cairo_surface_destroy");
  int (*write_to_png_stream)(void* surface, WriteFunction,
                             void* closure) = cairo.find("cairo_surface_write_to_png_stream");
  void* (*create)(void* surface) = cairo.find("cairo_create");
  void (*destroy)(void* cairo) = cairo.find("cairo_destroy");
  int (*status)(void* cairo) = cairo.find("cairo_status");
  void (*unref)(void* object) = gobject.find("g_object_unref");
};

const Table& open() {
  static const Table table;
  return table;
}

using Owned = std::unique_ptr<void, void (*)(void*)>;

int append(void* closure, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return success;
}

[[noreturn]] void no_memory(const std::string& file) {
  throw Error(file + ": expected memory for a picture, found none", Exit::environment);
}

/// Draws the picture over the whole surface. `width`, `height`: the surface's size in its units.
void draw(const Picture& picture, void* surface, double width, double height, const std::string& file) {
  const Table& table = open();
  GError* error = nullptr;
  const auto refuse = [&] {
    throw Error(
        fmt::format("{}: librsvg cannot draw it: {}", file, error != nullptr ? error->message : "no reason given"),
        Exit::environment);
  };
  const Owned handle(
      table.new_from_data(reinterpret_cast<const std::uint8_t*>(picture.svg.data()), picture.svg.size(), &error),
      table.unref);
  if (!handle) refuse();
  const Rectangle all{0, 0, width, height};
  const Owned cairo(table.create(surface), table.destroy);
  if (table.render_document(handle.get(), cairo.get(), &all, &error) == 0) refuse();
  if (table.status(cairo.get()) != success) no_memory(file);
}

}  // namespace

void write_png(const Picture& picture, const std::string& file) {
  const Table& table = open();
  const double width = std::ceil(picture.width * scale), height = std::ceil(picture.height * scale);
  const Owned surface(table.surface_create(argb32, static_cast<int>(width), static_cast<int>(height)),
                      table.surface_destroy);
  draw(picture, surface.get(), width, height, file);
  std::string bytes;
  if (table.write_to_png_stream(surface.get(), append, &bytes) != success) no_memory(file);
  write_file(file, bytes);
}

void write_pdf(const Picture& picture, const std::string& file) {
  const Table& table = open();
  std::string bytes;  // must outlive the surface, which may write when it is destroyed
  const double width = picture.width * point, height = picture.height * point;
  const Owned surface(table.pdf_surface_create_for_stream(append, &bytes, width, height), table.surface_destroy);
  // by default, the date is the clock's
  table.pdf_surface_set_metadata(surface.get(), create_date, "2000-01-01T00:00:00Z");
  draw(picture, surface.get(), width, height, file);
  table.surface_finish(surface.get());
  if (table.surface_status(surface.get()) != success) no_memory(file);
  write_file(file, bytes);
}

}  // namespace deplo::apps::report
