# All from Debian 12's packages; ./quickstart installs them.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GSL REQUIRED IMPORTED_TARGET gsl)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)

# libcsv ships no pkg-config file.
find_path(CSV_INCLUDE_DIR csv.h REQUIRED)
find_library(CSV_LIBRARY csv REQUIRED)
add_library(CSV::CSV UNKNOWN IMPORTED)
set_target_properties(CSV::CSV PROPERTIES IMPORTED_LOCATION ${CSV_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${CSV_INCLUDE_DIR})
