# The gnuplot scripts of this folder as a C file, so that the installed program needs no path.
#
#   include(plots/embed.cmake)
#   peaksim_embed_plots(peaksim_plots)
#
# Run as a script (cmake -P) it writes that file: OUTPUT from SCRIPTS.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "/* Written by plots/embed.cmake from the scripts (.gp) beside it: edit those. */\n#include \"plots/plot_script.h\"\n\n#include <string.h>\n\n")
  set(rows "")
  foreach(script ${SCRIPTS})
    get_filename_component(name ${script} NAME_WE)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    file(READ ${script} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND text "static const char script_${identifier}[] = {${bytes}0};\n")
    string(APPEND rows "    if (strcmp(name, \"${name}\") == 0)\n        return script_${identifier};\n")
  endforeach()
  string(APPEND text "\nconst char *plot_script_text(const char *name)\n{\n${rows}    return NULL;\n}\n")
  file(WRITE ${OUTPUT} "${text}")
  return()
endif()

set(PEAKSIM_PLOTS_FOLDER ${CMAKE_CURRENT_LIST_DIR})

function(peaksim_embed_plots target)
  file(GLOB scripts CONFIGURE_DEPENDS ${PEAKSIM_PLOTS_FOLDER}/*.gp)
  set(output ${CMAKE_BINARY_DIR}/plots/plot_scripts.c)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DSCRIPTS=${scripts}" -DOUTPUT=${output} -P ${PEAKSIM_PLOTS_FOLDER}/embed.cmake
    DEPENDS ${scripts} ${PEAKSIM_PLOTS_FOLDER}/embed.cmake VERBATIM
    COMMENT "Embedding the gnuplot scripts")
  target_sources(${target} PRIVATE ${output})
endfunction()
