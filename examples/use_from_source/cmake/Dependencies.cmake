# A module of this project. It may have the same name as a file of the library.
find_package(Threads REQUIRED)
