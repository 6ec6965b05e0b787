// Uses measurements from elsewhere as the prior mean of the model. The process then learns only how this kernel on this
// device differs.
//
//   f_s(x)   a Gaussian process (gp.h) of source s: its log times, clipped at their median, minus their mean
//   m(x)     b + Σ a_s f_s(x);  a and b by least squares over the log times told, regularised as if `strength` more
//            evaluations had shown a_s = 1/S: without evaluations, all sources have the same weight
//
// The residual is modelled as in Golovin et al., Google Vizier: a service for black-box optimization, KDD 2017,
// section 3.3. Their method differs in that it stacks the processes of the sources and has no slopes.
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
  /// Learns from the sources with at least two valid times; the others are left out. Adds the knobs and values of their
  /// trails to the encoding.
  void learn(std::span<const SourceTask>, Encoding&, Rng&);
  bool empty() const { return origins_.empty(); }
  /// The mean over the sources of the standard deviation of their log times, with the slow half clipped.
  double deviation() const;
  /// The fastest candidates of each source, by that source's times.
  const std::vector<Trail>& best() const { return best_; }

  /// Finds a and b from one log time for each candidate. Both may be empty: a and b then stay as they are.
  void match(const std::vector<Codes>&, std::span<const double> logs, Encoding&);
  /// m of each candidate.
  std::vector<double> means(const std::vector<Codes>&, Encoding&);

 private:
  struct Origin {
    std::vector<Codes> codes;
    std::vector<double> values;  // clipped log times, with mean 0 and variance 1
    double deviation = 1;
    std::unique_ptr<GaussianProcess> process;
  };
  void add(const SourceTask&, Encoding&, Rng&);
  void refresh(Encoding&);
  /// f of each source: one row per candidate, one column per source.
  std::vector<double> predictions(const std::vector<Codes>&, Encoding&);

  std::vector<Origin> origins_;
  std::vector<Trail> best_;
  std::size_t version_ = SIZE_MAX;                           // the encoding's version at the latest conditioning
  std::unordered_map<Codes, std::size_t, CodesHash> known_;  // candidate → its row of cache_
  std::vector<double> cache_;
  std::vector<double> slopes_;
  double offset_ = 0;
};

}  // namespace deplo::search::model
