// Looks up what the late thread was in, for each piece of idle time.
#include "sim/recording/late_sites.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace stepsim {
namespace {

bool is_late(const IdlePiece& piece) {
  return piece.kind >= IdleKind::late_sync && piece.kind <= IdleKind::late_python;
}

}  // namespace

std::vector<LateSite> late_sites(const Recording& recording, const IdleTime& idle) {
  std::vector<std::vector<const IdlePiece*>> by_thread(recording.threads.size());
  for (const IdlePiece& piece : idle.pieces) {
    if (is_late(piece)) by_thread[piece.thread].push_back(&piece);
  }
  std::map<std::pair<HostPlace, IdleKind>, LateSite> sites;
  for (std::size_t thread = 0; thread < by_thread.size(); ++thread) {
    const auto& pieces = by_thread[thread];
    std::vector<Nanoseconds> moments;
    for (const IdlePiece* piece : pieces)
      moments.push_back(piece->time.start + piece->time.length() / 2);
    visit_moments(recording.threads[thread], moments, [&](std::size_t i, Enclosing enclosing) {
      HostPlace place = place_of(recording, enclosing);
      // What a loader in the process calls takes turns: it is one place.
      if (pieces[i]->kind == IdleKind::late_loader) place = {.line = place.line};
      LateSite& site = sites[{place, pieces[i]->kind}];
      site.place = place;
      site.kind = pieces[i]->kind;
      ++site.times;
      site.idle += pieces[i]->time.length();
    });
  }
  std::vector<LateSite> all;
  for (auto& [key, site] : sites) all.push_back(std::move(site));
  std::ranges::stable_sort(all, std::greater{}, &LateSite::idle);
  return all;
}

}  // namespace stepsim
