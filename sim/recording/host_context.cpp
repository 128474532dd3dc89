// Walks the events of a thread with a stack, as they nest.
#include "sim/recording/host_context.hpp"

#include <algorithm>
#include <array>

#include "sim/recording/marks.hpp"

namespace stepsim {

void visit_moments(const RecordedThread& thread, const std::vector<Nanoseconds>& moments,
                   const std::function<void(std::size_t, Enclosing)>& visit) {
  std::vector<const HostEvent*> open;
  auto next = thread.events.begin();
  for (std::size_t i = 0; i < moments.size(); ++i) {
    for (; next != thread.events.end() && next->time.start <= moments[i]; ++next) {
      while (!open.empty() && open.back()->time.end <= next->time.start) open.pop_back();
      open.push_back(&*next);
    }
    std::erase_if(open, [&](const HostEvent* e) { return e->time.end <= moments[i]; });
    visit(i, open);
  }
}

bool is_users(std::string_view function) {
  // Kineto leaves the folder out in which Python found a file, where it is one of sys.path.
  constexpr std::array kOthers{"torch/",  "/torch/",   "-packages/", "lib/python",
                               "<frozen", "<built-in", "<string>"};
  constexpr std::array kLibrary{"threading.py(", "contextlib.py(",   "runpy.py(",  "queue.py(",
                                "selectors.py(", "socket.py(",       "random.py(", "copy.py(",
                                "functools.py(", "multiprocessing/", "importlib/", "concurrent/"};
  if (function.find(".py(") == function.npos) return false;
  for (const std::string_view part : kOthers) {
    if (part == "torch/" ? function.starts_with(part) : function.find(part) != function.npos)
      return false;
  }
  return std::ranges::none_of(kLibrary,
                              [&](std::string_view begin) { return function.starts_with(begin); });
}

HostPlace place_of(const Recording& recording, Enclosing enclosing) {
  HostPlace place;
  for (const HostEvent* event : enclosing) {
    const std::string& name = recording.name_of(*event);
    if (event->work == HostWork::operation && place.operation.empty()) place.operation = name;
    if (event->work == HostWork::runtime) place.call = name;
    if (event->work == HostWork::annotation && !marks_step(name)) place.annotation = name;
    if (event->work != HostWork::python || !is_users(name)) continue;
    // A comprehension has no name of its own: the function around it says more.
    if (place.line.empty() || name.find(": <") == name.npos) place.line = name;
  }
  return place;
}

}  // namespace stepsim
