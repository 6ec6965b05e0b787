// Private to the interpreter: global memory, and who wrote what.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/interpret/rounding.h"

namespace deplo::ir::exec {

struct Global : Layout {
  std::span<double> data;                       // empty in evaluate_at
  const Numbers* numbers = nullptr;             // inputs of evaluate_at …
  std::function<double(std::int64_t)> element;  // … or one element of them
  std::span<double> rounding;                   // of `data`, of outputs, where it is asked for
  // Of an output, who wrote each element: nobody 0, thread t of the launch t + 1 by `=` and -(t + 1) by `+=`, several
  // by `+=` -INT64_MAX.
  std::vector<std::int64_t> writers;
};

class GlobalMemory {
 public:
  GlobalMemory(Lanes& lanes, Roundings& roundings) : lanes_(lanes), roundings_(roundings) {}

  std::vector<Global> buffers;           // of the program, in order
  std::vector<Point>* points = nullptr;  // of evaluate_at: receives what is written
  bool exact = false;                    // outputs keep what is written; they are rounded when they are read
  bool once = false;                     // a program without threads: no turn writes what another one has written

  void load(std::size_t dst, const Access&, const Offsets&, Mask);
  /// `rounding`: how far the value may be off. Throws Error on a race between threads, and where a value chose an element
  /// that already has another; in Loop IR (`once`) where it has any.
  void write(const Access&, WriteMode, std::int64_t offset, int lane, double value, double rounding);

 private:
  template <class T>
  void gather(std::size_t dst, const Access&, const T* data, const Offsets&, Mask);
  void round(std::size_t dst, const Access&, const Layout&);
  const Point& written_point(const Global&, std::int64_t offset) const;
  void write_point(const Global&, WriteMode, std::int64_t offset, double value, double rounding);
  void claim(Global&, const Access&, WriteMode, std::size_t i, int lane, double value) const;

  Lanes& lanes_;
  Roundings& roundings_;
};

}  // namespace deplo::ir::exec
