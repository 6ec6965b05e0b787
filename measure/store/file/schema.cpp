#include "measure/store/file/schema.h"

#include <array>

namespace deplo::measure {
namespace {

// Released scripts are never edited. A new version appends one.
constexpr std::array<std::string_view, 13> scripts = {R"sql(
CREATE TABLE device (
  id           INTEGER PRIMARY KEY,
  backend      TEXT NOT NULL,
  name         TEXT NOT NULL,
  vendor       TEXT NOT NULL,
  driver       TEXT NOT NULL,
  platform     TEXT NOT NULL,
  units        INTEGER NOT NULL,
  clock_mhz    INTEGER NOT NULL,
  shared_bytes INTEGER NOT NULL,
  max_threads  INTEGER NOT NULL,
  cpu          INTEGER NOT NULL CHECK (cpu IN (0, 1)),
  UNIQUE (backend, name, vendor, driver, platform, units)
) STRICT;

CREATE TABLE run (
  id       INTEGER PRIMARY KEY,
  device   INTEGER NOT NULL REFERENCES device (id),
  revision TEXT NOT NULL,
  config   TEXT NOT NULL,
  searcher TEXT NOT NULL,
  seed     INTEGER NOT NULL,
  host     TEXT NOT NULL,
  started  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE TABLE kernel (
  id   INTEGER PRIMARY KEY,
  key  TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE trial (
  id        INTEGER PRIMARY KEY,
  run       INTEGER NOT NULL REFERENCES run (id),
  ordinal   INTEGER NOT NULL,
  kernel    INTEGER NOT NULL REFERENCES kernel (id),
  trail     TEXT NOT NULL,
  digest    TEXT NOT NULL,
  status    TEXT NOT NULL,
  message   TEXT NOT NULL,
  build_ms  REAL NOT NULL,
  median_us REAL,
  fidelity  REAL NOT NULL,
  samples   TEXT NOT NULL CHECK (json_valid(samples)),
  protocol  TEXT NOT NULL,
  stage     TEXT NOT NULL CHECK (stage IN ('screen', 'confirm')),
  created   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CHECK ((status = 'ok') = (median_us IS NOT NULL))
) STRICT;

CREATE INDEX trial_by_kernel ON trial (kernel);
CREATE INDEX trial_by_run ON trial (run);
)sql",
                                                      R"sql(
ALTER TABLE device ADD COLUMN architecture TEXT NOT NULL DEFAULT '';
ALTER TABLE device ADD COLUMN l2_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN memory_bytes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE run ADD COLUMN process TEXT NOT NULL DEFAULT '';

ALTER TABLE trial ADD COLUMN batch INTEGER;
ALTER TABLE trial ADD COLUMN sets INTEGER;
ALTER TABLE trial ADD COLUMN rejected TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(rejected));
ALTER TABLE trial ADD COLUMN warm_us REAL;
ALTER TABLE trial ADD COLUMN clock_mhz REAL;
ALTER TABLE trial ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0 CHECK (stopped IN (0, 1));
ALTER TABLE trial ADD COLUMN registers INTEGER;
ALTER TABLE trial ADD COLUMN spill_bytes INTEGER;
ALTER TABLE trial ADD COLUMN stack_bytes INTEGER;
ALTER TABLE trial ADD COLUMN static_shared_bytes INTEGER;
ALTER TABLE trial ADD COLUMN dynamic_shared_bytes INTEGER;
ALTER TABLE trial ADD COLUMN occupancy REAL;
ALTER TABLE trial ADD COLUMN limiter TEXT NOT NULL DEFAULT '';
ALTER TABLE trial ADD COLUMN binary_digest TEXT NOT NULL DEFAULT '';

CREATE TABLE running (
  id       INTEGER PRIMARY KEY,
  run      INTEGER NOT NULL REFERENCES run (id),
  ordinal  INTEGER NOT NULL,
  kernel   INTEGER NOT NULL REFERENCES kernel (id),
  trail    TEXT NOT NULL,
  digest   TEXT NOT NULL,
  protocol TEXT NOT NULL,
  stage    TEXT NOT NULL CHECK (stage IN ('screen', 'confirm')),
  created  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE TABLE baseline (
  id        INTEGER PRIMARY KEY,
  run       INTEGER NOT NULL REFERENCES run (id),
  kernel    INTEGER NOT NULL REFERENCES kernel (id),
  library   TEXT NOT NULL,
  version   TEXT NOT NULL,
  precision TEXT NOT NULL,
  threads   INTEGER NOT NULL,
  status    TEXT NOT NULL,
  message   TEXT NOT NULL,
  median_us REAL,
  samples   TEXT NOT NULL CHECK (json_valid(samples)),
  warm_us   REAL,
  protocol  TEXT NOT NULL,
  created   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
  CHECK ((status = 'ok') = (median_us IS NOT NULL))
) STRICT;

CREATE INDEX baseline_by_kernel ON baseline (kernel);
)sql",
                                                      R"sql(
ALTER TABLE kernel ADD COLUMN schedule_key TEXT NOT NULL DEFAULT '';
ALTER TABLE kernel ADD COLUMN exact_key TEXT NOT NULL DEFAULT '';
UPDATE kernel SET schedule_key = deplo_schedule_key(text), exact_key = deplo_exact_key(text);
CREATE INDEX kernel_by_schedule ON kernel (schedule_key);
)sql",
                                                      R"sql(
CREATE TABLE ceiling (
  id           INTEGER PRIMARY KEY,
  run          INTEGER NOT NULL REFERENCES run (id),
  copy_gb_s    REAL NOT NULL,
  read_gb_s    REAL NOT NULL,
  fp32_gflop_s REAL NOT NULL,
  created      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

ALTER TABLE baseline ADD COLUMN batch INTEGER;
ALTER TABLE baseline ADD COLUMN sets INTEGER;
)sql",
                                                      R"sql(
ALTER TABLE run ADD COLUMN pipeline TEXT NOT NULL DEFAULT '';
)sql",
                                                      R"sql(
CREATE TABLE machine_code (
  id                INTEGER PRIMARY KEY,
  binary_digest     TEXT NOT NULL UNIQUE,
  instructions      INTEGER NOT NULL,
  calls             INTEGER NOT NULL,
  loop_instructions INTEGER NOT NULL,
  arithmetic_share  REAL NOT NULL,
  issue_cycles      INTEGER NOT NULL,
  issue_limiter     TEXT NOT NULL,
  classes           TEXT NOT NULL CHECK (json_valid(classes))
) STRICT;
)sql",
                                                      R"sql(
ALTER TABLE trial ADD COLUMN changes INTEGER;

CREATE TABLE search (
  id       INTEGER PRIMARY KEY,
  run      INTEGER NOT NULL REFERENCES run (id),
  kernel   INTEGER NOT NULL REFERENCES kernel (id),
  settings TEXT NOT NULL,
  stop     TEXT NOT NULL,
  finished INTEGER NOT NULL CHECK (finished IN (0, 1)),
  created  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX search_by_kernel ON search (kernel);
)sql",
                                                      R"sql(
ALTER TABLE trial ADD COLUMN compiler_notes TEXT NOT NULL DEFAULT '';
)sql",
                                                      R"sql(
CREATE TABLE graph (
  id           INTEGER PRIMARY KEY,
  run          INTEGER NOT NULL REFERENCES run (id),
  key          TEXT NOT NULL,
  name         TEXT NOT NULL,
  trail        TEXT NOT NULL,
  digest       TEXT NOT NULL,
  heuristic_us REAL NOT NULL,
  median_us    REAL NOT NULL,
  created      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX graph_by_key ON graph (key);

ALTER TABLE trial ADD COLUMN proof TEXT NOT NULL DEFAULT '';
)sql",
                                                      R"sql(
CREATE TABLE family (
  id      INTEGER PRIMARY KEY,
  run     INTEGER NOT NULL REFERENCES run (id),
  kernel  INTEGER NOT NULL REFERENCES kernel (id),
  key     TEXT NOT NULL,
  name    TEXT NOT NULL,
  rule    TEXT NOT NULL CHECK (json_valid(rule)),
  goal    TEXT NOT NULL,
  loss    REAL NOT NULL,
  created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX family_by_key ON family (key);
)sql",
                                                      R"sql(
ALTER TABLE trial ADD COLUMN code_bytes INTEGER;

ALTER TABLE search ADD COLUMN objectives TEXT NOT NULL DEFAULT '';
)sql",
                                                      R"sql(
ALTER TABLE trial ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
ALTER TABLE trial ADD COLUMN row_fingerprint TEXT NOT NULL DEFAULT '';
)sql",
                                                      R"sql(
ALTER TABLE trial ADD COLUMN energy_mj REAL;
)sql"};

}  // namespace

std::span<const std::string_view> migrations() { return scripts; }

}  // namespace deplo::measure
