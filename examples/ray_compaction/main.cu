// A path tracer whose rays are compacted and sorted by material after every bounce, so that the threads of a warp stay
// busy and do the same:
//   ray_compaction --width 640 --height 480 --samples 64 image.png
// It renders the image in two ways (frames.cuh): one waits for the host in every bounce, the other is a CUDA graph with
// loops, which never does. It checks that both images are the same, bit for bit, and prints how long a frame takes.
#include <png.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "frames.cuh"
#include "stream_compaction/timer.h"

namespace {

using namespace RayCompaction;

#ifdef STREAM_COMPACTION_SIMULATED
constexpr int trials = 0;  // the simulator has no notion of time
#else
constexpr int trials = 5;
#endif

struct Request {
    Camera camera{256, 256};
    std::uint32_t samples = 16;
    std::string file;
};

/// The light of each pixel, and how long a frame took.
struct Rendering {
    std::vector<Vec3> film;
    std::vector<float> millisecondsPerFrame;  ///< one per trial
};

/// Renders the image once to get it, and once more for each trial.
template <typename Frames>
[[nodiscard]] Rendering render(const Request& request) {
    PathTracer tracer(request.camera);
    Frames frames(tracer);
    const CudaStream stream;
    const auto renderAll = [&] {
        for (std::uint32_t sample = 0; sample < request.samples; ++sample) {
            frames.render(stream);
        }
        stream.synchronize();
    };

    Rendering rendering{std::vector<Vec3>(tracer.pixels()), {}};
    tracer.clear(stream);
    renderAll();
    tracer.film().copyTo(rendering.film);

    StreamCompaction::Common::PerformanceTimer timer;
    for (int trial = 0; trial < trials; ++trial) {
        timer.timeCpu(renderAll);
        rendering.millisecondsPerFrame.push_back(timer.getCpuElapsedTimeForPreviousOperation() /
                                                 static_cast<float>(request.samples));
    }
    return rendering;
}

void printTime(const char* name, std::vector<float> milliseconds) {
    std::ranges::sort(milliseconds);
    const float median = milliseconds[milliseconds.size() / 2];
    std::printf("%-20s %12.3f %12.3f %12.3f %18.0f\n", name, median, milliseconds.front(), milliseconds.back(),
                1000 / median);
}

[[nodiscard]] bool isSame(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(Vec3)) == 0;
}

/// The mean light of a channel, as a byte of the image.
[[nodiscard]] png_byte encoded(float sum, std::uint32_t samples) {
    const float mean = std::clamp(sum / static_cast<float>(samples), 0.0f, 1.0f);
    return static_cast<png_byte>(std::lround(255 * std::pow(mean, 1 / 2.2f)));
}

void writePng(const Request& request, const std::vector<Vec3>& film) {
    std::vector<png_byte> bytes;
    for (const Vec3& light : film) {
        for (const float channel : {light.x, light.y, light.z}) {
            bytes.push_back(encoded(channel, request.samples));
        }
    }
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = request.camera.width;
    image.height = request.camera.height;
    image.format = PNG_FORMAT_RGB;
    if (png_image_write_to_file(&image, request.file.c_str(), 0, bytes.data(), 0, nullptr) == 0) {
        throw std::runtime_error(request.file + ": " + image.message);
    }
}

/// Returns whether both images are the same.
[[nodiscard]] bool run(const Request& request) {
    const Rendering byHost = render<HostLoop>(request);
    const Rendering byGraph = render<FrameGraph>(request);

    std::printf("%u x %u pixels, %u frames of a sample per pixel, at most %u bounces\n", request.camera.width,
                request.camera.height, request.samples, mostBounces);
    if (trials > 0) {
        std::printf("%-20s %12s %12s %12s %18s\n", "", "ms per frame", "least", "most", "frames per second");
        printTime("loop of the host", byHost.millisecondsPerFrame);
        printTime("loop in a graph", byGraph.millisecondsPerFrame);
    }
    const bool areSame = isSame(byHost.film, byGraph.film);
    std::printf("the images are %s\n", areSame ? "the same, bit for bit" : "DIFFERENT");
    if (!request.file.empty()) {
        writePng(request, byGraph.film);
    }
    return areSame;
}

}  // namespace

int main(int argc, char* argv[]) {
    Request request;
    CLI::App app("Renders a scene by path tracing, and measures two ways to loop over the bounces.", "ray_compaction");
    app.add_option("--width", request.camera.width, "Pixels per row [256]")->check(CLI::Range(1, 2048));
    app.add_option("--height", request.camera.height, "Rows of pixels [256]")->check(CLI::Range(1, 2048));
    app.add_option("--samples", request.samples, "Paths per pixel [16]")->check(CLI::Range(1, 65536));
    app.add_option("FILE", request.file, "Image to write, as PNG");
    constexpr int usage = 2;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : usage;
    }
    if (const auto reason = StreamCompaction::Common::cudaUnavailableReason()) {
        std::printf("skipped: %s\n", reason->c_str());
        return 0;
    }
    try {
        return run(request) ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << "ray_compaction: " << error.what() << '\n';
        return 1;
    }
}
