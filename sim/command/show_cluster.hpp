// stepsim show cluster: links and what they join, as a table or as a picture.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/cluster/network.hpp"

namespace stepsim {

/// A table of the links, those with the same name but for numbers on one line; and how much passes
/// between the two halves of the cluster.
void show_links(const std::string& title, const Network& network, std::ostream& out);

/// The same as a graph for Graphviz. Of many nodes it has a few, and one of them from inside.
void draw_links(const std::string& title, const Network& network, std::ostream& out);

}  // namespace stepsim
