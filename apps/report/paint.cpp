#include "apps/report/png.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "apps/write_file.h"
#include "core/error.h"
#include "measure/cuda/library.h"

namespace deplo::apps {
namespace {

using measure::cuda::Library;
using measure::cuda::LibraryName;

const LibraryName rsvg_name{"librsvg", {"librsvg-2.so.2"}, "it is the distribution's package librsvg2-2"};
const LibraryName cairo_name{"cairo", {"libcairo.so.2"}, "it is the distribution's package libcairo2"};
const LibraryName gobject_name{"GLib", {"libgobject-2.0.so.0"}, "it is the distribution's package libglib2.0-0"};

constexpr double scale = 3;
constexpr int argb32 = 0, success = 0;  // CAIRO_FORMAT_ARGB32, CAIRO_STATUS_SUCCESS

// rsvg.h, cairo.h and glib-object.h, by hand.
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
  void* (*new_from_data)(const std::uint8_t* data, std::size_t length, GError** error);
  int (*render_document)(void* handle, void* cairo, const Rectangle* viewport, GError** error);
  void* (*surface_create)(int format, int width, int height);
  void (*surface_destroy)(void* surface);
  int (*write_to_png_stream)(void* surface, WriteFunction, void* closure);
  void* (*create)(void* surface);
  void (*destroy)(void* cairo);
  int (*status)(void* cairo);
  void (*unref)(void* object);
};

const Table& open() {
  static const Table table = [] {
    const Library rsvg(rsvg_name), cairo(cairo_name), gobject(gobject_name);
    Table found{};
    rsvg.find("rsvg_handle_new_from_data", found.new_from_data);
    rsvg.find("rsvg_handle_render_document", found.render_document);
    cairo.find("cairo_image_surface_create", found.surface_create);
    cairo.find("cairo_surface_destroy", found.surface_destroy);
    cairo.find("cairo_surface_write_to_png_stream", found.write_to_png_stream);
    cairo.find("cairo_create", found.create);
    cairo.find("cairo_destroy", found.destroy);
    cairo.find("cairo_status", found.status);
    gobject.find("g_object_unref", found.unref);
    return found;
  }();
  return table;
}

using Owned = std::unique_ptr<void, void (*)(void*)>;

[[noreturn]] void refuse(const std::string& file, const GError* error) {
  throw Error(
      fmt::format("{}: librsvg does not draw it: {}", file, error != nullptr ? error->message : "no reason given"),
      Exit::environment);
}

int append(void* closure, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return success;
}

}  // namespace

void write_png(const std::string& svg, double width, double height, const std::string& file) {
  const Table& table = open();
  GError* error = nullptr;
  const Owned handle(table.new_from_data(reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size(), &error),
                     table.unref);
  if (!handle) refuse(file, error);
  const Rectangle all{0, 0, std::ceil(width * scale), std::ceil(height * scale)};
  const Owned surface(table.surface_create(argb32, static_cast<int>(all.width), static_cast<int>(all.height)),
                      table.surface_destroy);
  const Owned cairo(table.create(surface.get()), table.destroy);
  if (table.render_document(handle.get(), cairo.get(), &all, &error) == 0) refuse(file, error);
  std::string bytes;
  if (table.status(cairo.get()) != success || table.write_to_png_stream(surface.get(), append, &bytes) != success)
    throw Error(file + ": expected memory for a picture, found none", Exit::environment);
  write_file(file, bytes);
}

}  // namespace deplo::apps
