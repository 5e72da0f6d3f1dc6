#include "problems/elements.h"

#include <stdexcept>

#include "cli/nearest_names.h"

namespace Bench {

std::string_view name(ElementType type) {
    switch (type) {
        case ElementType::Int8:
            return "int8";
        case ElementType::Int32:
            return "int32";
        case ElementType::Int64:
            return "int64";
        case ElementType::Float:
            return "float";
        case ElementType::Double:
            return "double";
    }
    throw std::logic_error("name: no such element type");
}

ElementType parseElementType(std::string_view text) { return parseName("type", text, allElementTypes); }

}  // namespace Bench
