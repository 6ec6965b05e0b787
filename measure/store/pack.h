// A pack: the best schedules of a store as a text file that can be shared and kept in git. docs/database.md, "Packs".
//
// Each line is a JSON object. The first one says that the file is a pack; then come devices, schedules, the choices of
// kernels for graphs, and the schedules of families of shapes. Lines refer to devices by their order, from 1.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "measure/device_info.h"
#include "measure/sqlite/sqlite.h"
#include "measure/store/rows/records.h"

namespace deplo::measure {

struct Pack {
  /// The device, and the version of the deplo that measured on it and of its rules, as in RunRecord.
  struct Origin {
    std::size_t device = 0;  // index in `devices`
    std::string revision, pipeline;
  };
  struct Schedule {
    Origin origin;
    KernelRecord kernel;
    TrialRecord trial;  // without run, kernel and id; its status is ok
  };
  struct Graph {
    Origin origin;
    GraphRecord graph;  // without run and id
  };
  struct Family {
    Origin origin;
    FamilyRecord family;  // without run, pipeline and id
  };
  std::vector<DeviceInfo> devices;
  std::vector<Schedule> schedules;
  std::vector<Graph> graphs;
  std::vector<Family> families;
};

/// Returns a text such as "3 schedules of 1 device, 1 graph, rules for 2 forms".
std::string describe(const Pack&);
/// Returns the text of a pack. Equal contents give equal texts.
std::string print(const Pack&);
/// Reads the text of a pack. Accepts any bytes, but throws Error "file:line: expected …, found …" unless they are a
/// pack.
Pack parse_pack(std::string_view text, const std::string& file);

/// Returns true if the file can be read and begins like the text of print().
bool is_pack(const std::string& file);
/// Returns a store in memory with the contents of the pack.
std::unique_ptr<sqlite::Database> store_of(const Pack&);
/// Like store_of(), for a pack in a file. Throws Error like parse_pack(), and if the file cannot be read.
std::unique_ptr<sqlite::Database> open_pack(const std::string& file);

}  // namespace deplo::measure
