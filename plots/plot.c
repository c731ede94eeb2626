#include "plots/plot.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plots/plot_figures.h"
#include "plots/plot_script.h"
#include "sim/run/file_name.h"

/*
 * Everything is written and drawn in a private folder inside the output directory, under fixed names;
 * finished pictures move to plots/ by rename.
 */
enum { PATH_SIZE = 4096 };

struct format {
    const char *extension;
    const char *terminal;
    const char *options;
    const char *fonts; /* sizes that look alike: gnuplot takes pixels in the one and points in the other */
};

static const struct format formats[] = {
    {"svg", "svg", "font 'DejaVu Sans,17' background rgb 'white' noenhanced",
     "heading_font = ',20'\nsmall_font = ',14'\npoint = 1\n"},
    {"png", "pngcairo", "font 'DejaVu Sans,13' background rgb 'white' noenhanced",
     "heading_font = ',15'\nsmall_font = ',11'\npoint = 1.8\n"},
};

static int join(char path[PATH_SIZE], const char *folder, const char *name, struct error *err)
{
    if ((size_t)snprintf(path, PATH_SIZE, "%s/%s", folder, name) >= PATH_SIZE)
        return error_set(err, ERROR_SYSTEM, "plots", "the path of the output directory is too long");
    return 0;
}

static FILE *create(const char *folder, const char *name, struct error *err)
{
    char path[PATH_SIZE];
    FILE *file;

    if (join(path, folder, name, err) != 0)
        return NULL;
    file = fopen(path, "w");
    if (!file)
        error_set(err, ERROR_SYSTEM, path, "cannot be written: %s", strerror(errno));
    return file;
}

static int finish(FILE *file, const char *name, struct error *err)
{
    bool bad = ferror(file) != 0;

    if (fclose(file) != 0 || bad)
        return error_set(err, ERROR_SYSTEM, name, "cannot be written: %s", strerror(errno));
    return 0;
}

/* The private folder holds plain files of ours, and nothing else. */
static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[PATH_SIZE];

    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            join(path, folder, entry->d_name, NULL) == 0)
            unlink(path);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* Peak windows as grey ground behind everything. */
static void write_peaks(const struct plot_data *data, FILE *script)
{
    double unit = plot_time_axis(data->horizon_s).unit_s;

    for (int32_t i = 0; i < data->peak_count; i++) {
        fprintf(script, "set object %d rectangle from first ", (int)i + 1);
        plot_number(script, data->peaks[i].from_s / unit, ", graph 0 to first ");
        plot_number(script, data->peaks[i].to_s / unit,
                    ", graph 1 behind fillcolor rgb '#f0f0f0' fillstyle solid noborder\n");
    }
}

static void write_frame(const struct plot_data *data, int32_t service, const struct plot_figure *figure,
                        FILE *script)
{
    struct plot_axis axis = plot_time_axis(data->horizon_s);
    bool timed = strcmp(figure->name, "waterfall") != 0 && strcmp(figure->name, "cost-p99") != 0;
    char label[96];

    fprintf(script, "width = %d\nheight = %d\nkey_rows = %d\n", PLOT_WIDTH, figure->height(data),
            figure->legend(data));
    plot_set_number(script, "x_max", data->horizon_s / axis.unit_s);
    plot_set_number(script, "x_step", axis.step);
    snprintf(label, sizeof label, "%s%s", axis.label,
             data->peak_count ? "; first replication; grey: peak windows" : "; first replication");
    plot_set_text(script, "x_label", label, PLOT_HEADING_CHARACTERS);
    fputs("heading = ", script);
    plot_quote(script, data->scenario, PLOT_HEADING_CHARACTERS - 32);
    if (data->service_count > 1) {
        fputs(" . ' / ' . ", script);
        plot_quote(script, data->services[service].name, PLOT_LEGEND_CHARACTERS);
    }
    fputs(" . ': ' . ", script);
    plot_quote(script, figure->title, PLOT_HEADING_CHARACTERS);
    fputc('\n', script);
    if (timed)
        write_peaks(data, script);
}

/* Writes the data and, for each format, a script; runs gnuplot. Pictures are called picture.svg and
 * picture.png. */
static int draw(const struct plot_data *data, int32_t service, const struct plot_figure *figure,
                const char *folder, struct error *err)
{
    char data_name[64], *frame = NULL;
    size_t frame_size;
    FILE *script = open_memstream(&frame, &frame_size), *rows;
    int status = -1;

    snprintf(data_name, sizeof data_name, "%s.dat", figure->name);
    if (!script)
        return error_memory(err, "plots");
    rows = create(folder, data_name, err);
    if (rows) {
        write_frame(data, service, figure, script);
        figure->write(data, service, script, rows);
        status = finish(rows, data_name, err);
    }
    if (fclose(script) != 0 && status == 0)
        status = error_memory(err, "plots");
    for (size_t k = 0; k < sizeof formats / sizeof formats[0] && status == 0; k++) {
        FILE *file = create(folder, "picture.gp", err);

        status = -1;
        if (!file)
            break;
        fprintf(file, "set terminal %s size %d,%d %s\nset output 'picture.%s'\n", formats[k].terminal,
                PLOT_WIDTH, figure->height(data), formats[k].options, formats[k].extension);
        fputs(formats[k].fonts, file);
        fputs(frame, file);
        fputs(plot_script_text("common"), file);
        fputs(plot_script_text(figure->name), file);
        fputs("set output\n", file);
        if (finish(file, "picture.gp", err) == 0)
            status = plot_run_gnuplot(folder, "picture.gp", err);
    }
    free(frame);
    return status;
}

/* picture.svg -> plots/<name>.svg */
static int publish(const char *outdir, const char *folder, const char *name, struct error *err)
{
    char from[PATH_SIZE], to[PATH_SIZE], file[FILE_NAME_PART * 2 + 32];
    struct stat state;

    for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++) {
        snprintf(file, sizeof file, "picture.%s", formats[k].extension);
        if (join(from, folder, file, err) != 0)
            return -1;
        snprintf(file, sizeof file, "plots/%s.%s", name, formats[k].extension);
        if (join(to, outdir, file, err) != 0)
            return -1;
        if (stat(from, &state) != 0 || state.st_size == 0)
            return error_set(err, ERROR_SYSTEM, "plots", "gnuplot drew no %s", file);
        if (rename(from, to) != 0)
            return error_set(err, ERROR_SYSTEM, to, "cannot be written: %s", strerror(errno));
    }
    return 0;
}

static int draw_all(const struct plot_data *data, const char *outdir, const char *folder, struct error *err)
{
    char services[PLOT_SERVICES_MAX][FILE_NAME_PART + 8], name[FILE_NAME_PART * 2];

    for (int32_t i = 0; i < data->service_count; i++) {
        char part[FILE_NAME_PART];

        file_name_part(part, data->services[i].name);
        snprintf(services[i], sizeof services[i], "%s", part);
        file_name_unique(services[0], sizeof services[0], (size_t)i + 1);
        for (int k = 0; k < PLOT_FIGURES; k++) {
            if (data->service_count > 1)
                snprintf(name, sizeof name, "%s-%s", plot_figures[k].name, services[i]);
            else
                snprintf(name, sizeof name, "%s", plot_figures[k].name);
            if (draw(data, i, &plot_figures[k], folder, err) != 0 || publish(outdir, folder, name, err) != 0)
                return -1;
        }
    }
    return 0;
}

int plots_draw(const char *outdir, struct error *err)
{
    char folder[PATH_SIZE], plots[PATH_SIZE];
    struct plot_data data;
    int status = -1;

    if (plot_data_read(outdir, &data, err) != 0 || join(folder, outdir, ".plots-XXXXXX", err) != 0 ||
        join(plots, outdir, "plots", err) != 0)
        goto out;
    if (!mkdtemp(folder)) {
        error_set(err, ERROR_SYSTEM, outdir, "no folder can be made in it: %s", strerror(errno));
        goto out;
    }
    if (mkdir(plots, 0777) != 0 && errno != EEXIST)
        error_set(err, ERROR_SYSTEM, plots, "cannot be made: %s", strerror(errno));
    else
        status = draw_all(&data, outdir, folder, err);
    remove_folder(folder);
    if (status != 0)
        rmdir(plots); /* if nothing is in it */
out:
    plot_data_free(&data);
    return status;
}
