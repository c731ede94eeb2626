# Compiler flags of every target.
#
# -ffp-contract=off: the autoscalers are defined in IEEE doubles without fused
# multiply-add, and results must not depend on whether the machine has one.
add_compile_definitions(_GNU_SOURCE) # getline, fopencookie, memmem
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
                    -Wpointer-arith -Wcast-qual -Wvla $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation> # texts for people may be cut
                    -ffp-contract=off -fno-math-errno)
if(PEAKSIM_STRICT)
  add_compile_options(-Werror)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(CMAKE_C_FLAGS_RELEASE "-O3 -g1") # without -DNDEBUG: cheap asserts stay on
  include(CheckCSourceRuns)
  if(PEAKSIM_NATIVE_V3 AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT PEAKSIM_SANITIZE)
    check_c_source_runs("int main(void){return __builtin_cpu_supports(\"x86-64-v3\") ? 0 : 1;}"
                        PEAKSIM_CPU_HAS_V3)
    if(PEAKSIM_CPU_HAS_V3)
      add_compile_options(-march=x86-64-v3) # bit-identical to plain x86-64 without contraction
    endif()
  endif()
endif()

if(PEAKSIM_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined -fno-sanitize-recover=all)
endif()
