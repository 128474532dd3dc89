// Makes batches of JPEG files that the workers of a real loader read and decode; their first pixels
// are the samples.
#include "validate/loader/jpeg_files.hpp"
#include "validate/loader/real_loader.hpp"
#include "validate/trainer/batches.hpp"

namespace stepsim::trainer {
namespace {

constexpr int kFiles = 64;

class PictureBatches : public Batches {
 public:
  PictureBatches(const Shape& shape, const Pictures& pictures, int rank)
      : width_(static_cast<std::size_t>(shape.width)),
        batch_(static_cast<std::size_t>(shape.batch)),
        files_(kFiles, pictures.width, pictures.height),
        slots_(static_cast<std::size_t>(pictures.workers * pictures.prefetch + 1)),
        target_(width_ * batch_) {
    for (auto& slot : slots_) slot.resize(width_ * batch_);
    const auto first = static_cast<std::size_t>(rank * kFiles / 2);
    loader_ =
        std::make_unique<RealLoader>(RealSetting{pictures.workers, pictures.prefetch,
                                                 static_cast<int>(shape.batch), pictures.steps, 0},
                                     [this, first](std::size_t sample) { load(sample, first); });
  }

  Batch next() override {
    loader_->next();
    const std::vector<float>& input = slots_[taken_++ % slots_.size()];
    make_targets(input, target_, width_);
    return {input, target_};
  }

 private:
  void load(std::size_t sample, std::size_t first) {
    float* const to = slots_[sample / batch_ % slots_.size()].data() + sample % batch_ * width_;
    const std::vector<unsigned char> pixels = JpegFiles::decode(files_.read(first + sample));
    for (std::size_t i = 0; i < width_; ++i)
      to[i] = static_cast<float>(pixels[i % pixels.size()]) / 255;
  }

  std::size_t width_, batch_;
  JpegFiles files_;
  // samples of the batches in flight, and of the batch that is taken
  std::vector<std::vector<float>> slots_;
  std::vector<float> target_;
  std::size_t taken_ = 0;
  std::unique_ptr<RealLoader> loader_;  // the last member, so that its threads end first
};

}  // namespace

std::unique_ptr<Batches> picture_batches(const Shape& shape, const Pictures& pictures, int rank) {
  return std::make_unique<PictureBatches>(shape, pictures, rank);
}

}  // namespace stepsim::trainer
