#pragma once

/// The name that the course's programs include.
#include "stream_compaction/radix_sort.h"
