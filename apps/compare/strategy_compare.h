// `deplo compare`: compares search strategies on recorded spaces.
#pragma once
#include <string>
#include <vector>

#include "apps/report/comparison.h"
#include "core/progress.h"
#include "search/compare/contest.h"

namespace deplo::apps {

struct CompareFlags {
  std::vector<std::string> spaces;   // files and folders
  std::string objective;             // NAME, NAME:min or NAME:max of the spaces; "": each file's own
  std::vector<std::string> search;   // NAME or NAME:PARAMETER=VALUE:…; the first is the reference
  std::vector<std::string> set;      // PARAMETER=VALUE, for all entrants that have the parameter
  std::vector<std::string> orders;   // orders of levels; the table shows the first
  search::compare::Contest contest;  // its entrants are empty; `search` names them
  // number of records that models learn first, with the analytic model's times; 0: none
  std::size_t analytic_prior = 0;
  std::size_t learned_prior = 0;  // the same, with the times of trees that learned from the stores' other kernels
  std::string html;               // a file for the report; "": none
  std::string output;             // a file for the JSON document, which `deplo report` draws; "": none
  std::string csv;                // a file for the figures of each run; "": none
  bool json = false, quiet = false, verbose = false;
};

/// Parses texts of the form NAME[:PARAMETER=VALUE…]. `set` applies to parameters that an entrant does not set itself.
/// Throws Error.
std::vector<search::compare::Entrant> parse_entrants(const std::vector<std::string>& search,
                                                     const std::vector<std::string>& set);

/// Runs the strategies on the spaces. Throws Error.
Comparison compare_strategies(const CompareFlags&, Progress&);

/// Returns the tables. `width`: the window's width in columns; 0: no limit. `verbose`: also print a table for each
/// space.
std::string print_comparison(const Comparison&, bool verbose, std::size_t width);
std::string print_comparison_json(const Comparison&);
/// Returns one line per strategy, space, order and repeat.
std::string print_comparison_csv(const Comparison&);

}  // namespace deplo::apps
