// Global memory, and the writer of each element. Private to the interpreter.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ir/interpret/interpret.h"
#include "ir/interpret/lazy_inputs.h"
#include "ir/interpret/rounding.h"

namespace deplo::ir::exec {

struct Global : Layout {
  std::span<double> data;                       // empty in evaluate_at, and for a lazy input
  LazyInput* lazy = nullptr;                    // an input whose elements are computed when they are read
  const Numbers* numbers = nullptr;             // inputs of evaluate_at as arrays …
  std::function<double(std::int64_t)> element;  // … or as a function that returns one element
  std::span<double> rounding;                   // for an output: the rounding errors of `data`, if requested
  // For an output: the writer of each element. 0: nobody; t + 1: thread t of the launch by `=`; -(t + 1): thread t by
  // `+=`; -INT64_MAX: several threads by `+=`.
  std::vector<std::int64_t> writers;

  /// Returns an element of an input or an output. Not available in evaluate_at.
  double at(std::int64_t offset) const {
    const auto i = static_cast<std::size_t>(offset);
    return lazy != nullptr ? (*lazy)[i] : data[i];
  }
};

class GlobalMemory {
 public:
  GlobalMemory(const Arithmetic& arithmetic, Lanes& lanes, Roundings& roundings)
      : arithmetic_(arithmetic), lanes_(lanes), roundings_(roundings) {}

  std::vector<Global> buffers;           // the program's buffers, in order
  std::vector<Point>* points = nullptr;  // in evaluate_at: receives the written elements
  bool exact = false;                    // outputs keep exact values, which are rounded when they are read
  bool once = false;                     // the program has no threads: a scatter must not write an element twice

  void load(std::size_t dst, const Access&, const Offsets&, Mask);
  /// Writes or adds an element. `rounding`: bound on the error of the value. Throws Error on a race between threads. In
  /// a scatter (loaded values choose the element) it also throws if the element already has other bits or, with `once`,
  /// was already written.
  void write(const Access&, WriteMode, std::int64_t offset, int lane, double value, double rounding);

 private:
  template <class Element>
  void gather(std::size_t dst, const Access&, const Offsets&, Mask, const Element& element);
  void round(std::size_t dst, const Access&, const Layout&);
  const Point& written_point(const Global&, std::int64_t offset) const;
  void write_point(const Global&, WriteMode, std::int64_t offset, double value, double rounding);
  void claim(Global&, const Access&, WriteMode, std::size_t i, int lane, double value) const;

  double stored(const Layout& to, double value) const { return as_stored(arithmetic_, value, to.dtype); }
  double written(const Layout& to, WriteMode, double before, double value) const;

  const Arithmetic& arithmetic_;
  Lanes& lanes_;
  Roundings& roundings_;
};

}  // namespace deplo::ir::exec
