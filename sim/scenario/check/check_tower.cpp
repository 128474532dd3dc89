// The sentences about vision towers, their images, and what of such a model is not trained.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/check/check.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

class ImageRules {
 public:
  ImageRules(const Scenario& scenario, const Transformer& model, const KeyReports& keys)
      : s_(scenario), t_(model), v_(*model.tower), keys_(keys) {}

  void check() {
    if (check_sizes()) check_tokens(*s_.image_tokens());
    check_split();
    if (keys_.sound({"training.frozen", "training.lora"})) check_frozen();
  }

 private:
  /// Whether the size of images is known, and makes whole tokens.
  bool check_sizes() {
    if (!s_.training.images) {
      keys_.report({"training",
                    "add \"images: {per_sequence: <integer>, height: <pixels>, width: "
                    "<pixels>}\", or train on text alone with \"tower: ~\" in the model"},
                   "'{}' has a tower, and nothing says which images sequences have", s_.model.name);
      return false;
    }
    const SequenceImages& images = *s_.training.images;
    const std::int64_t edge = v_.patch * v_.merge;
    bool sound = true;
    for (const auto& [key, stated] :
         {std::pair{"height", images.height}, std::pair{"width", images.width}}) {
      const std::string path = std::string("training.images.") + key;
      const std::int64_t pixels = stated > 0 ? stated : v_.image;
      if (pixels == 0) {
        keys_.report({path, "state the pixels"},
                     "images of '{}' have any size, but {} is not stated", s_.model.name, key);
      } else if (v_.image > 0 && pixels != v_.image) {
        keys_.report({path, "leave it out"}, "{} {}, but the tower's images have {} pixels", key,
                     pixels, v_.image);
      } else if (pixels % edge != 0) {
        keys_.report(
            {path, fmt::format("state {}", std::max(pixels / edge, std::int64_t{1}) * edge)},
            "{} {} is no multiple of {}, the pixels of a token: patch {} x merge {}", key, pixels,
            edge, v_.patch, v_.merge);
      } else {
        continue;
      }
      sound = false;
    }
    return sound;
  }

  void check_tokens(const ImageTokens& image) {
    const std::int64_t all = image.merged * s_.training.images->per_sequence;
    if (!keys_.sound({"training.sequence_length"}) || all <= s_.training.sequence_length) return;
    keys_.report({"training.images.per_sequence", "state fewer, or a longer sequence_length"},
                 "{} images of {} tokens are {}, more than sequence_length {}",
                 s_.training.images->per_sequence, image.merged, all, s_.training.sequence_length);
  }

  void check_split() {
    const int tensor = s_.parallelism.tensor;
    if (!s_.parallelism.split_tower || !keys_.sound({"parallelism.tensor"})) return;
    for (const auto& [key, value] : {std::pair{"heads", v_.heads}, std::pair{"ffn", v_.ffn}}) {
      if (value % tensor == 0) continue;
      keys_.report({"parallelism.split_tower", "leave it out: each rank has all of the tower"},
                   "tensor {} does not divide {} {} of the tower", tensor, key, value);
    }
  }

  void check_frozen() {
    const std::vector<TowerPart>& frozen = s_.training.frozen;
    if (frozen.empty()) return;
    if (s_.training.lora) {
      return keys_.report(
          {"training.frozen", "leave it out"},
          "with lora all parts are frozen, and adapters of the decoder are trained");
    }
    for (const TowerPart part : frozen) {
      if (std::ranges::count(frozen, part) > 1)
        return keys_.report({"training.frozen"}, "{} is named more than once", name_of(part));
    }
    if (frozen.size() == 3) {
      return keys_.report({"training.frozen", "leave one of them out"},
                          "tower, projector and decoder are frozen: nothing is trained");
    }
    if (!s_.training.trains(TowerPart::decoder)) check_frozen_decoder();
  }

  void check_frozen_decoder() {
    const auto refuse = [&](bool present, const char* what) {
      if (present)
        keys_.report({"training.frozen", "train the decoder"},
                     "a frozen decoder with {} is not modelled", what);
    };
    refuse(t_.experts || t_.mla || t_.hybrid, "experts, latent attention or a hybrid's layers");
    refuse(t_.tied_embeddings && s_.parallelism.pipeline.stages > 1,
           "tied embeddings on several pipeline stages");
    refuse(s_.training.scan_layers, "scan_layers");
    const Recomputation& recompute = s_.training.recompute;
    const auto is_apart = [](RecomputeModule module) {
      return module != RecomputeModule::core_attention && module != RecomputeModule::layernorm;
    };
    refuse(
        recompute.kind == Recompute::selective && std::ranges::any_of(recompute.modules, is_apart),
        "recompute of modules other than core_attention and layernorm");
  }

  const Scenario& s_;
  const Transformer& t_;
  const VisionTower& v_;
  const KeyReports& keys_;
};

}  // namespace

void check_tower(const Transformer& t, const KeyReports& keys) {
  const VisionTower& v = *t.tower;
  if (v.hidden % v.heads != 0) {
    keys.report({"model.tower.heads"}, "heads {} do not divide hidden {}", v.heads, v.hidden);
  }
  if (v.window && v.window->kind == WindowKind::chunk &&
      v.window->edge() * v.window->edge() != v.window->tokens) {
    keys.report({"model.tower.window.tokens"},
                "windows of an image are squares, and {} patches make none", v.window->tokens);
  }
  check_apart(keys, "tower",
              {{"vision", t.vision.has_value()},
               {"diffusion", t.diffusion.has_value()},
               {"masked", t.masked.has_value()},
               {"encoder_layers", t.encoder_layers > 0}},
              "images stand among the words of a decoder");
  if (v.image > 0 && v.image % (v.patch * v.merge) != 0) {
    keys.report({"model.tower.image"},
                "image {} is no multiple of {}, the pixels of a token: patch {} x merge {}",
                v.image, v.patch * v.merge, v.patch, v.merge);
    return;
  }
  const std::int64_t tokens = v.image > 0 ? ImageTokens(v, {}).tokens : 0;
  if (v.positions > 0 && tokens > v.positions) {
    keys.report({"model.tower.positions"}, "an image has {} tokens, but there are {} positions",
                tokens, v.positions);
  }
}

void check_images(const Scenario& s, const KeyReports& keys) {
  const auto* t = std::get_if<Transformer>(&s.model.shape);
  if (t != nullptr && t->tower) {
    if (keys.sound({"model.tower", "training.images"})) ImageRules(s, *t, keys).check();
    return;
  }
  const auto refuse = [&](const char* key, bool stated) {
    if (stated && keys.sound({key}))
      keys.report({key, "leave it out"}, "the model has no tower for images");
  };
  refuse("training.images", s.training.images.has_value());
  refuse("training.frozen", !s.training.frozen.empty());
  refuse("parallelism.split_tower", s.parallelism.split_tower);
}

}  // namespace stepsim
