// stepsim show cluster: links and what they join, as a table or as a picture.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/cluster/network.hpp"

namespace stepsim {

/// A table of the links, those with the same name but for numbers on one line; and how much passes
/// between the two halves of the cluster.
void show_links(const std::string& title, const Network& network, std::ostream& out);

/// The links as a graph for Graphviz. A cluster of many nodes is drawn as a few of them, one seen
/// from inside.
void draw_links(const std::string& title, const Network& network, std::ostream& out);

}  // namespace stepsim
