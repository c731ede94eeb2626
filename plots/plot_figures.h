#ifndef PLOTS_PLOT_FIGURES_H
#define PLOTS_PLOT_FIGURES_H

#include <stdint.h>
#include <stdio.h>

#include "plots/plot_data.h"
#include "sim/engine/error.h"

/*
 * One picture: its numbers go into a data file, what varies in its script goes in front of the script as
 * assignments.
 */
struct plot_figure {
    const char *name; /* of the script and of the picture; the data file is <name>.dat */
    const char *title;
    /* Height in pixels for that many strategies; the width is PLOT_WIDTH. */
    int (*height)(const struct plot_data *data);
    /* Rows of the legend, for the room that it needs. */
    int (*legend)(const struct plot_data *data);
    /* Writes the assignments to `script` and the rows to `rows`. */
    void (*write)(const struct plot_data *data, int32_t service, FILE *script, FILE *rows);
};

enum { PLOT_WIDTH = 1280, PLOT_HEIGHT = 720, PLOT_FIGURES = 5 };

extern const struct plot_figure plot_figures[PLOT_FIGURES];

/* Time axis for people: seconds a unit, the unit's name, distance of the tics in units. */
struct plot_axis {
    double unit_s;
    const char *label;
    double step;
};
struct plot_axis plot_time_axis(double horizon_s);

#endif
