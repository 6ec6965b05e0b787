// The tables of the store, one script per version. Explained, with queries, in docs/database.md.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace deplo::measure {

/// "depl" in the file's header: tells our databases from other programs'.
inline constexpr std::int64_t application_id = 0x6465706c;

/// migrations[i] takes a database from user_version i to i + 1. Never edited once released: append.
inline constexpr std::array<std::string_view, 1> migrations = {R"sql(
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
)sql"};

}  // namespace deplo::measure
