#pragma once

/// UTF-8 on the GPU, the device layer: `Utf8::Decode`, `Utf8::Validate`, `Utf8::Encode`, and the textbook rung,
/// `Utf8::TextbookDecode`.
#include "stream_compaction/utf8/decode.cuh"
#include "stream_compaction/utf8/encode.cuh"
#include "stream_compaction/utf8/textbook.cuh"
