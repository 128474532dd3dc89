// The options of `stepsim schema`.
#include "sim/command/schema/schema.hpp"

#include <iostream>
#include <memory>
#include <string>

#include "sim/cli/options.hpp"

namespace stepsim {

void add_schema(CLI::App& app, Action& chosen) {
  const auto kept = std::make_shared<std::string>("scenario");
  CLI::App* schema =
      app.add_subcommand("schema", "print a JSON schema, for editors and validators");
  schema->footer(
      "Exit codes: 0 printed, 2 bad input.\n\n"
      "Example: stepsim schema scenario > scenario.schema.json");
  schema->add_option("what", *kept, "what files it is of; default: scenario")
      ->check(one_of_these(schemas()));
  schema->callback(
      [kept, &chosen] { chosen = [kept] { return stepsim::schema(*kept, std::cout); }; });
}

}  // namespace stepsim
