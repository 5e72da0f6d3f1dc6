#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "stream_compaction/utf8/unit.h"

namespace StreamCompaction::Utf8 {

/// Decodes text that comes in pieces of any size, which may end inside a sequence. The result is that of the whole
/// text. `decode` is Utf8::decode or CPU::decodeUtf8 for elements of type To. Allocates.
///
/// If a piece ends inside a sequence, up to three bytes of that sequence are kept for the next piece.
template <typename To>
class PieceDecoder {
  public:
    /// Utf8::decode or CPU::decodeUtf8.
    using Decode = std::function<Result(std::span<const std::uint8_t>, std::span<To>, Errors, Bom)>;

    /// Decodes by `decode`, to which it passes `errors`, and `bom` for the beginning of the text.
    PieceDecoder(Decode decode, Errors errors, Bom bom) : decode_(std::move(decode)), errors_(errors), bom_(bom) {}

    /// Decodes the next piece. Returns the elements that it adds to the output, valid until the next call.
    [[nodiscard]] std::span<const To> feed(std::span<const std::uint8_t> piece) {
        if (hasStopped()) {
            return {};
        }
        text_.insert(text_.end(), piece.begin(), piece.end());
        return decodeFirst(completeBytes(text_));
    }

    /// Decodes the rest, after the last piece.
    [[nodiscard]] std::span<const To> finish() { return decodeFirst(hasStopped() ? 0 : text_.size()); }

    /// The result of all pieces so far: the number of elements, and the first error as an offset into the whole text.
    [[nodiscard]] const Result& result() const { return result_; }

  private:
    /// With Errors::Strict nothing behind the first error is decoded.
    [[nodiscard]] bool hasStopped() const { return errors_ == Errors::Strict && !result_.isWellFormed(); }

    std::span<const To> decodeFirst(std::size_t bytes) {
        if (bytes == 0) {
            return {};
        }
        out_.resize(bytes);
        const Result now = decode_(std::span(text_).first(bytes), out_, errors_, offset_ == 0 ? bom_ : Bom::Keep);
        if (result_.isWellFormed() && !now.isWellFormed()) {
            result_.firstError = Result::errorAt(offset_ + now.errorOffset(), now.errorKind());
        }
        result_.count += now.count;
        offset_ += bytes;
        text_.erase(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(bytes));
        return std::span(out_).first(now.count);
    }

    Decode decode_;
    Errors errors_;
    Bom bom_;
    std::vector<std::uint8_t> text_;  // not decoded yet; the next piece continues it
    std::vector<To> out_;
    std::size_t offset_ = 0;
    Result result_{0, Result::noError};
};

}  // namespace StreamCompaction::Utf8
