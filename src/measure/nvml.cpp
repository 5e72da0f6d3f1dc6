#include "measure/nvml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace Bench {

std::string describeThrottling(std::uint64_t reasons) {
    constexpr std::array<std::pair<std::uint64_t, std::string_view>, 6> known{{{0x4, "power cap"},
                                                                               {0x8, "hardware slowdown"},
                                                                               {0x10, "sync boost"},
                                                                               {0x20, "temperature"},
                                                                               {0x40, "temperature (hardware)"},
                                                                               {0x80, "power brake"}}};
    std::vector<std::string_view> found;
    for (const auto& [bit, name] : known) {
        if ((reasons & bit) != 0) {
            found.push_back(name);
        }
    }
    return fmt::format("{}", fmt::join(found, ", "));
}

namespace {

#ifdef _WIN32
using Handle = HMODULE;
[[nodiscard]] Handle openLibrary() { return LoadLibraryA("nvml.dll"); }
void closeLibrary(Handle library) { FreeLibrary(library); }
[[nodiscard]] auto symbol(Handle library, const char* name) { return GetProcAddress(library, name); }
#else
using Handle = void*;
[[nodiscard]] Handle openLibrary() { return dlopen("libnvidia-ml.so.1", RTLD_LAZY); }
void closeLibrary(Handle library) { dlclose(library); }
[[nodiscard]] void* symbol(Handle library, const char* name) { return dlsym(library, name); }
#endif

constexpr int success = 0;

template <typename Function>
void find(Handle library, const char* name, Function*& function) {
    function = library == nullptr ? nullptr : reinterpret_cast<Function*>(symbol(library, name));
}

}  // namespace

/// The functions as NVML's reference declares them. A toolkit need not have its header.
class Nvml::Library {
  public:
    Library() {
        find(handle_, "nvmlInit_v2", init_);
        find(handle_, "nvmlShutdown", shutdown_);
        find(handle_, "nvmlDeviceGetHandleByPciBusId_v2", cardAt_);
        find(handle_, "nvmlDeviceGetCurrentClocksThrottleReasons", reasons_);
        works_ =
            init_ != nullptr && shutdown_ != nullptr && cardAt_ != nullptr && reasons_ != nullptr && init_() == success;
    }
    ~Library() {
        if (works_) {
            shutdown_();
        }
        if (handle_ != nullptr) {
            closeLibrary(handle_);
        }
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    /// Null if there is none at this address.
    [[nodiscard]] void* cardAt(const std::string& busId) const {
        void* card = nullptr;
        return works_ && cardAt_(busId.c_str(), &card) == success ? card : nullptr;
    }
    [[nodiscard]] std::uint64_t reasons(void* card) const {
        unsigned long long reasons = 0;
        return reasons_(card, &reasons) == success ? reasons : 0;
    }

  private:
    Handle handle_ = openLibrary();
    int (*init_)() = nullptr;
    int (*shutdown_)() = nullptr;
    int (*cardAt_)(const char* busId, void** card) = nullptr;
    int (*reasons_)(void* card, unsigned long long* reasons) = nullptr;
    bool works_ = false;
};

Nvml::Nvml(const std::string& busId) : library_(std::make_unique<Library>()), card_(library_->cardAt(busId)) {}
Nvml::~Nvml() = default;

std::string Nvml::throttleReason() const {
    return card_ == nullptr ? "" : describeThrottling(library_->reasons(card_));
}

}  // namespace Bench
