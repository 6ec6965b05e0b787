// What was measured elsewhere as the prior mean of the model: the process then learns only where this kernel on this
// device differs.
//
//   f_s(x)   a Gaussian process (gp.h) of source s: its log times, clipped at their median, less their mean
//   m(x)     b + Σ a_s f_s(x);  a, b by least squares over the log times told, as if `strength` more of them had said
//            a_s = 1/S: without any, every source is believed alike
//
// The residual is modelled as in Golovin et al., Google Vizier: a service for black-box optimization, KDD 2017,
// section 3.3, where however the source is one process below the other and has no slope.
#pragma once
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/rng.h"
#include "search/model/encoding.h"
#include "search/model/gp.h"
#include "search/searcher.h"

namespace deplo::search::model {

/// Not thread-safe.
class Transfer {
 public:
  /// Sources without two valid times say nothing and are left out. Their knobs and values become the encoding's.
  void learn(std::span<const SourceTask>, Encoding&, Rng&);
  bool empty() const { return origins_.empty(); }
  /// The mean over sources of the standard deviation of their log times, the slow half being clipped.
  double deviation() const;
  /// The fastest of each source, by its own times.
  const std::vector<Trail>& best() const { return best_; }

  /// Finds a and b. `logs` may be empty.
  void match(const std::vector<Codes>&, std::span<const double> logs, Encoding&);
  /// m at each.
  std::vector<double> means(const std::vector<Codes>&, Encoding&);

 private:
  struct Origin {
    std::vector<Codes> codes;
    std::vector<double> values;  // over the deviation
    double deviation = 1;
    std::unique_ptr<GaussianProcess> process;
  };
  void add(const SourceTask&, Encoding&, Rng&);
  void refresh(Encoding&);
  /// f of each source, a row per candidate.
  std::vector<double> predictions(const std::vector<Codes>&, Encoding&);

  std::vector<Origin> origins_;
  std::vector<Trail> best_;
  std::size_t version_ = SIZE_MAX;                           // of the encoding, at the latest conditioning
  std::unordered_map<Codes, std::size_t, CodesHash> known_;  // rows of cache_
  std::vector<double> cache_;
  std::vector<double> slopes_;
  double offset_ = 0;
};

}  // namespace deplo::search::model
