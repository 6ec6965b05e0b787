"""Reads exports of deplo as Kernel Tuner does. Arguments: the cache that was imported, its export as a Kernel Tuner
cache, and its export as T4. Needs the package kernel_tuner, 1.4 or later."""
import json
import shutil
import sys

import jsonschema
from kernel_tuner import tune_kernel, util
from kernel_tuner.file_utils import output_file_schema

imported, exported, t4 = sys.argv[1:]
before = util.read_cache(imported, open_cache=False)
after = util.read_cache(exported, open_cache=False)
for key in ("device_name", "kernel_name", "problem_size", "tune_params_keys", "tune_params"):
    # json.dumps tells True from 1 and 1 from 1.0.
    assert json.dumps(before[key]) == json.dumps(after[key]), (key, before[key], after[key])
assert list(before["cache"]) == list(after["cache"]), "keys"
for key, entry in before["cache"].items():
    kept = after["cache"][key]
    for name in before["tune_params_keys"]:
        assert json.dumps(entry[name]) == json.dumps(kept[name]), (key, name)
    assert str(entry.get("__error__")) == str(kept.get("__error__")), key

# A search that goes on from the file opens it for appending.
copy = exported + ".copy"
shutil.copy(exported, copy)
util.read_cache(copy, open_cache=True)
util.close_cache(copy)
assert list(json.load(open(copy))["cache"]) == list(before["cache"]), "appending"

objective = after["objective"]
valid = [entry[objective] for entry in after["cache"].values() if "__error__" not in entry]
results, _ = tune_kernel(after["kernel_name"], "__global__ void kernel() {}", tuple(after["problem_size"]), [],
                         after["tune_params"], cache=exported, simulation_mode=True, quiet=True, objective=objective,
                         objective_higher_is_better=after.get("objective_higher_is_better", False),
                         restrictions=util.infer_restrictions_from_cache(after), strategy="brute_force")
simulated = [result[objective] for result in results if "__error__" not in result]
assert sorted(simulated) == sorted(valid) and valid, (simulated, valid)

_, schema = output_file_schema("results")
jsonschema.validate(json.load(open(t4)), schema)
print("read", len(valid))
