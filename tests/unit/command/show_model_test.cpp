// What `show model` says of a model, in text and in JSON.

#include <sstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "sim/command/show.hpp"
#include "sim/core/error.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

std::string shown(const std::string& model, const std::string& format = "table",
                  const std::vector<std::string>& overrides = {}) {
  std::ostringstream out;
  show_model({.path = model, .overrides = overrides}, format, out);
  return out.str();
}

nlohmann::json json_of(const std::string& model, const std::vector<std::string>& overrides = {}) {
  return nlohmann::json::parse(shown(model, "json", overrides));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("FLOPs of a decoder are those of its products and of attention at that length") {
  const auto small = json_of("llama2-7b", {"training.sequence_length=2048"});
  const auto large = json_of("llama2-7b", {"training.sequence_length=4096"});
  CHECK(small["parameters"]["total"] == 6'738'415'616);
  CHECK(small["parameters"]["published"] == 6'738'415'616);
  // Two for each weight but the embedding's and the norms'; scores and their products with values
  // are 4 * layers * hidden * length.
  const double attention = 4.0 * 32 * 4096 * 2048;
  CHECK(small["flops"]["forward_attention"] == attention);
  CHECK(large["flops"]["forward_attention"] == 2 * attention);
  CHECK(small["flops"]["forward"] ==
        attention + 2.0 * (6'738'415'616 - 32000L * 4096 - 65L * 4096));
  CHECK(small["flops"]["forward_and_backward"] ==
        3 * small["flops"]["forward"].get<std::int64_t>());
  CHECK(small["bytes"]["weights_bf16"] == 2 * 6'738'415'616);
  CHECK(small["bytes"]["with_optimizer_states"] == 14 * 6'738'415'616);
}

TEST_CASE("experts that a token does not go through are no active parameters") {
  const auto mixtral = json_of("mixtral-8x7b");
  CHECK(mixtral["parameters"]["total"] == 46'702'792'704);
  CHECK(mixtral["parameters"]["active"] == 12'879'925'248);
}

TEST_CASE("models that are no decoders are shown by the sample") {
  CHECK(json_of("resnet50")["flops"]["unit"] == "sample");
  CHECK(json_of("vit-b-16")["flops"]["length"] == "197 tokens");
  CHECK(json_of("t5-small")["flops"]["length"] == "4,096 tokens and 4,096 to predict");
  CHECK(json_of("mlp-400x512")["parameters"]["embedding"] == 0);
  CHECK(json_of("gpt2")["flops"]["length"] == "1,024 tokens");
  CHECK(has(shown("dlrm-criteo-1tb"), "26 tables"));
}

TEST_CASE("files, folders and scenarios are models, too, and notes are shown") {
  const TemporaryFolder folder;
  const std::string config =
      folder.file("my-model/config.json", R"({"model_type": "qwen3", "sliding_window": 4096})");
  CHECK(shown(config) == shown(folder.file("my-model")));
  CHECK(has(shown(config), "my-model\n"));
  CHECK(has(shown(config), "assumed, as qwen3 has them by default:"));
  const std::string yaml =
      folder.file("mine.yaml", "kind: mlp\nlayers: 3\nwidth: 8\nsource: mine\n");
  CHECK(has(shown(yaml), "3 linear layers of width 8"));
  CHECK(has(shown(std::string(source_folder()) + "/scenarios/llama3-70b-64xh100.yaml"),
            "at 8,192 tokens"));
  CHECK_THROWS_WITH_AS(shown("lama2-7b"),
                       "no model 'lama2-7b' in models/, did you mean 'llama2-7b'?", UserError);
}
