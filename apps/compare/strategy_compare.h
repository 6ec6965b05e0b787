// deplo compare: search strategies against each other on recorded spaces.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/report/comparison_result.h"
#include "core/progress.h"
#include "search/compare/contest.h"

namespace deplo::apps {

struct CompareFlags {
  std::vector<std::string> spaces;   // files and folders
  std::string objective;             // NAME, NAME:min or NAME:max of the spaces; "": each file's own
  std::vector<std::string> search;   // NAME or NAME:PARAMETER=VALUE:…; the first is the reference
  std::vector<std::string> set;      // PARAMETER=VALUE, of all that have it
  std::vector<std::string> orders;   // of levels; the first is the table's
  search::compare::Contest contest;  // but its entrants
  std::size_t analytic_prior = 0;    // models begin with the analytic model's times of so many records; 0: without
  std::size_t learned_prior = 0;     // the same of trees that learned from the other kernels of the stores
  std::string html;                  // a file for the report; "": none
  std::string output;                // a file for the JSON document, which `deplo report` draws; "": none
  std::string csv;                   // a file for the figures of each run; "": none
  bool json = false, quiet = false, verbose = false;
};

/// NAME[:PARAMETER=VALUE…] each; `set` where an entrant does not set it itself. Throws Error.
std::vector<search::compare::Entrant> parse_entrants(const std::vector<std::string>& search,
                                                     const std::vector<std::string>& set);
/// The recorded spaces among files and, in the order of their names, in folders. In a folder, files .T1.json are
/// definitions of spaces, and NAME_T4 beside NAME is the same space again: both are left out. Throws Error.
std::vector<std::string> find_spaces(const std::vector<std::string>& paths);

/// Throws Error.
Comparison compare_strategies(const CompareFlags&, Progress&);

/// For a window of that many columns; 0: no limit. `verbose`: a table of every space too.
std::string print_comparison(const Comparison&, bool verbose, std::size_t width);
std::string print_comparison_json(const Comparison&);
/// One line per strategy, space, order and repeat.
std::string print_comparison_csv(const Comparison&);

}  // namespace deplo::apps
