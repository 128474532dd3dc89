// The program's memory: jemalloc's, in huge pages, where that library was found. A search simulates
// thousands of steps, each of which fills some 30 MB once: half of that time went into page faults.

extern "C" {
// jemalloc reads it before main (jemalloc(3), "tuning").
extern const char* malloc_conf;
const char* malloc_conf = "thp:always,metadata_thp:always";
}
