#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "stream_compaction/primitives/tile_loader.cuh"
#include "stream_compaction/runtime/arguments.h"
#include "stream_compaction/runtime/requirements.h"

/// Sources, the inputs of operations: an array, a function of an array's elements, or a function of the index. The
/// function is applied in registers, as part of the load. No intermediate array is written.
namespace StreamCompaction {

/// The elements of an array.
template <typename T>
struct ArraySource {
    using Stored = T;  ///< an element of the array
    using Value = T;   ///< what the operation gets

    const T* elements;  ///< in device memory

    /// The value of an element.
    [[nodiscard]] __device__ T value(const T& stored) const { return stored; }
};

/// `function(x)` for each element x of an array.
template <typename In, typename Function>
struct TransformedSource {
    /// An element of the array.
    using Stored = In;
    /// What the function returns.
    using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, const In&>>;

    const In* elements;  ///< in device memory
    Function function;   ///< called by device code

    /// The value of an element.
    [[nodiscard]] __device__ Value value(const In& stored) const { return function(stored); }
};

/// `function(i)` for each index i; there is no array.
template <typename Function>
struct GeneratedSource {
    /// What the function returns.
    using Value = std::remove_cvref_t<std::invoke_result_t<const Function&, std::size_t>>;

    Function function;  ///< called by device code
};

/// An input that is `function(x)` for each element x of `in`, an array in device memory. `function` is a function
/// object that device code can call. Operations say whether they take one.
template <typename In, typename Function>
[[nodiscard]] auto transformed(const In* in, Function function) {
    if constexpr (isFunctionOf<Function, In>()) {
        return TransformedSource<In, Function>{in, function};
    } else {
        return in;
    }
}

/// The index itself, as a T.
template <typename T>
struct IndexAs {
    /// i.
    [[nodiscard]] __host__ __device__ T operator()(std::size_t i) const { return static_cast<T>(i); }
};

/// An input that is `function(i)` for each index i.
template <typename Function>
[[nodiscard]] auto generated(Function function) {
    if constexpr (isFunctionOf<Function, std::size_t>()) {
        return GeneratedSource<Function>{function};
    } else {
        return GeneratedSource<IndexAs<std::size_t>>{};
    }
}

/// An input whose elements are their own indices.
template <typename T = std::size_t>
[[nodiscard]] GeneratedSource<IndexAs<T>> indices() {
    return generated(IndexAs<T>{});
}

/// The source that an argument of an operation stands for; a pointer stands for its array.
template <typename T>
[[nodiscard]] ArraySource<T> sourceOf(const T* in) {
    return {in};
}
template <typename In, typename Function>
[[nodiscard]] TransformedSource<In, Function> sourceOf(const TransformedSource<In, Function>& in) {
    return in;
}
template <typename Function>
[[nodiscard]] GeneratedSource<Function> sourceOf(const GeneratedSource<Function>& in) {
    return in;
}

/// The type of this source.
template <typename In>
using SourceOf = decltype(sourceOf(std::declval<In>()));

/// Whether the source reads an array.
template <typename Source>
inline constexpr bool readsArray = requires(Source source) {
    source.elements;
};

template <typename Source>
struct StoredIn {
    using Type = typename Source::Value;
};
template <typename Source>
requires readsArray<Source>
struct StoredIn<Source> {
    using Type = typename Source::Stored;
};
/// The element type of the source's array, or the return type of the function if there is no array.
template <typename Source>
using Stored = typename StoredIn<Source>::Type;

/// Element i of the source, read from global memory.
template <typename Source>
[[nodiscard]] __device__ typename Source::Value valueAt(const Source& source, std::size_t i) {
    if constexpr (readsArray<Source>) {
        return source.value(source.elements[i]);
    } else {
        return source.function(i);
    }
}

/// The memory of a source's array, which may not be null. A function of the index reads none.
template <typename Source>
[[nodiscard]] Arguments::Region arrayOf(const char* name, const Source& source, std::size_t n) {
    if constexpr (readsArray<Source>) {
        return Arguments::array(name, source.elements, n);
    } else {
        return {};
    }
}

/// Checks an input of an operation against its output. With `mayRunInPlace` they may be the same array, with elements
/// of the same size. Otherwise they may share no memory.
template <bool mayRunInPlace, typename Source, typename T>
void requireSource(const Source& source, const T* out, std::size_t n, const char* name = "in") {
    Arguments::requireArray("out", out, n);
    if constexpr (readsArray<Source>) {
        using In = Stored<Source>;
        Arguments::requireArray(name, source.elements, n);
        if constexpr (mayRunInPlace) {
            Arguments::requireSameOrDisjoint(source.elements, n * sizeof(In), out, n * sizeof(T));
        } else {
            Arguments::requireDisjoint(source.elements, n * sizeof(In), out, n * sizeof(T));
        }
    }
}

/// The values that a source makes of a vector of its array, or of the vector's indices. Places past the end of the
/// array repeat the last element.
template <typename Shape, typename Source>
[[nodiscard]] __device__ auto valuesOf(const Source& source, const Vector<Stored<Source>, Shape::vectorLength>& stored,
                                       int tile, int row, std::size_t n) {
    Vector<typename Source::Value, Shape::vectorLength> values;
#pragma unroll
    for (int i = 0; i < Shape::vectorLength; ++i) {
        if constexpr (readsArray<Source>) {
            values.items[i] = source.value(stored.items[i]);
        } else {
            values.items[i] = source.function(min(Shape::begin(tile) + Shape::offset(row) + i, n - 1));
        }
    }
    return values;
}

/// A tile of a source in registers.
template <typename Source, typename Shape>
class RegisterTile {
  public:
    __device__ RegisterTile(const Source& source, int tile, std::size_t n) : source_(source), tile_(tile), n_(n) {
        if constexpr (readsArray<Source>) {
            loadRows<Shape>(vectors_, Shape::tileOf(source.elements, tile, n));
        }
    }

    [[nodiscard]] __device__ auto row(int row) const {
        if constexpr (readsArray<Source>) {
            return valuesOf<Shape>(source_, vectors_[row], tile_, row, n_);
        } else {
            return valuesOf<Shape>(source_, {}, tile_, row, n_);
        }
    }

  private:
    const Source& source_;
    int tile_;
    std::size_t n_;
    Vector<Stored<Source>, Shape::vectorLength> vectors_[Shape::rows];
};

/// Loads a tile of a source into shared memory, as TileLoader does. A function of the index loads nothing. `n` must
/// live as long as the loader, and may be written until the barrier before `finish`.
template <typename Source, typename Shape, std::size_t room = Shape::elements * sizeof(Stored<Source>)>
class SourceLoader {
  public:
    using Tile = TileLoader<Stored<Source>, Shape, room>;
    using Storage = typename Tile::Storage;

    __device__ SourceLoader(Storage& storage, const Source& source, const std::size_t& n)
        : source_(source), loader_(storage, source.elements, n) {}

    __device__ void start(int tile) { loader_.start(tile); }
    __device__ void finish(int tile) { loader_.finish(tile); }
    [[nodiscard]] __device__ auto row(int row) const { return valuesOf<Shape>(source_, loader_.row(row), 0, row, 0); }
    [[nodiscard]] __device__ std::byte* memory() const { return loader_.memory(); }

  private:
    const Source& source_;
    Tile loader_;
};

template <typename Function, typename Shape, std::size_t room>
class SourceLoader<GeneratedSource<Function>, Shape, room> {
    using Source = GeneratedSource<Function>;

  public:
    struct Storage {
        alignas(16) std::byte elements[room];
    };

    __device__ SourceLoader(Storage& storage, const Source& source, const std::size_t& n)
        : storage_(storage), source_(source), n_(n) {}

    __device__ void start(int /*tile*/) {}
    __device__ void finish(int tile) { tile_ = tile; }
    [[nodiscard]] __device__ auto row(int row) const { return valuesOf<Shape>(source_, {}, tile_, row, n_); }
    [[nodiscard]] __device__ std::byte* memory() const { return storage_.elements; }

  private:
    Storage& storage_;
    const Source& source_;
    const std::size_t& n_;
    int tile_ = 0;
};

}  // namespace StreamCompaction
