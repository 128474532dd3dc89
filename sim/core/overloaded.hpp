// Several lambdas as one function object, for std::visit.
#pragma once

namespace stepsim {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace stepsim
