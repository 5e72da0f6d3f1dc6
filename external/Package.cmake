# What `cmake --install` adds to the library and the program, and the package that `cpack -G DEB` makes.

set(package stream-compaction)
set(docs ${CMAKE_INSTALL_DATADIR}/doc/${package})
install(FILES LICENSE README.md DESTINATION ${docs})
# Debian expects the licence under this name.
install(FILES LICENSE DESTINATION ${docs} RENAME copyright)

file(STRINGS LICENSE holder REGEX "^Copyright")
string(REGEX REPLACE "^Copyright \\(c\\) [0-9]+ " "" holder "${holder}")
set(CPACK_PACKAGE_CONTACT "${holder}")
# Debian wants an address: that of whoever makes the package.
execute_process(COMMAND git config user.email WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                OUTPUT_VARIABLE email OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(email)
    string(APPEND CPACK_PACKAGE_CONTACT " <${email}>")
endif()
set(CPACK_PACKAGE_NAME ${package})
set(CPACK_PACKAGE_VENDOR "${holder}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "prefix sums, compactions, radix sorts and row sums on GPU and CPU")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"A library of scans, stream compactions, radix sorts, row sums and UTF-8
conversions, from the textbook to the speed of a copy. It has static
libraries, headers and a CMake package. The program stream_compaction_test
checks and times all of them.")
# The program's shared libraries, and what the library's CMake package looks for.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS libtbb-dev)
if(STREAM_COMPACTION_HAS_HIGHWAY)
    string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libhwy-dev")
endif()
include(CPack)
