// The program's memory: jemalloc's, in huge pages, where that library was found. A search simulates
// thousands of steps, each of which fills some 30 MB once: half of that time went into page faults.
//
// What is freed stays the process's own. By default jemalloc gives it back within seconds, large
// pieces at once, and the next simulation fills it anew: a quarter of a validation's time.

extern "C" {
// jemalloc reads it before main (jemalloc(3), "tuning").
extern const char* malloc_conf;
const char* malloc_conf =
    "thp:always,metadata_thp:always,oversize_threshold:0,dirty_decay_ms:-1,muzzy_decay_ms:-1";
}
