// A file of sweeps, as `sweep` and `merge` look at it.
#include "sim/store/sweep_store.hpp"
#include "tests/fuzz/database.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  SweepStore store = SweepStore::reader(database_of(text));
  for (const SweepRecord& record : store.sweeps()) {
    store.look_at(record);
    store.count();
    store.count_alike();
    store.count_by_state();
    store.builds();
    store.work();
    store.examples();
    store.best(objective_of("step_time"), 5);
    store.each([](const SweepPoint&) {});
  }
}

}  // namespace stepsim
