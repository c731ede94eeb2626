# libFuzzer harnesses: tests/fuzz/fuzz_NAME.c with its seeds in tests/fuzz/corpus/NAME/.
#
#   cmake --preset fuzz && cmake --build --preset fuzz --target fuzzers
#   build-fuzz/tests/fuzz_document -max_total_time=600 NEW_FOLDER tests/fuzz/corpus/document
#
# As a test each runs its seeds and then PEAKSIM_FUZZ_SECONDS of its own inputs; what it finds it leaves as
# crash-* in the build folder.
if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "PEAKSIM_FUZZ needs clang: cmake --preset fuzz")
endif()
set(PEAKSIM_FUZZ_SECONDS 5 CACHE STRING "Seconds that each harness runs as a test")

# Everything of ours is instrumented, so that new paths in the libraries are seen; the runtime of the
# sanitizers comes with each program that links them.
set(fuzz_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all)
set(fuzz_libraries)
foreach(layer engine io traffic replica cluster routing scaling cost run plots)
  if(TARGET peaksim_${layer})
    target_compile_options(peaksim_${layer} PUBLIC ${fuzz_sanitizers} -fsanitize=fuzzer-no-link
                           -fno-omit-frame-pointer)
    target_link_options(peaksim_${layer} PUBLIC ${fuzz_sanitizers})
    if(NOT layer STREQUAL "plots")
      list(PREPEND fuzz_libraries peaksim_${layer})
    endif()
  endif()
endforeach()

add_custom_target(fuzzers)
file(GLOB sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)
foreach(source ${sources})
  get_filename_component(program ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name ${program})
  add_executable(${program} ${source})
  target_link_libraries(${program} PRIVATE peaksim_test_support ${fuzz_libraries})
  target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${program})
  # New inputs go to the first folder, which is not the seeds'.
  set(found ${CMAKE_BINARY_DIR}/corpus/${name})
  set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
  file(MAKE_DIRECTORY ${found})
  add_test(NAME ${program} COMMAND ${program} -max_total_time=${PEAKSIM_FUZZ_SECONDS} -timeout=10
           -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 -artifact_prefix=${CMAKE_BINARY_DIR}/${name}-
           ${found} ${seeds})
  peaksim_register(${program})
endforeach()
