# Writes version_info.h; run as a script at build time. A commit with changes on top is marked "-dirty".

execute_process(COMMAND git describe --always --dirty --abbrev=10 --exclude=*
                OUTPUT_VARIABLE GIT_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
    set(GIT_COMMIT unknown)
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
