#include "sim/io/output_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT_PATH = 3072, OUTPUT_FILES = 512, OUTPUT_NAME = 256 };

static const char marker[] = ".peaksim";

struct output_file {
    FILE *file; /* NULL: closed */
    char name[OUTPUT_NAME];
};

struct output_dir {
    char target[OUTPUT_PATH];
    char partial[OUTPUT_PATH + 64];
    char old[OUTPUT_PATH + 64];
    int folder; /* the partial folder: files are opened relative to it, so that nobody can swap it under us */
    struct output_file files[OUTPUT_FILES];
    size_t count;
};

/* ---- whose folder is it ---- */

enum target_state { TARGET_ABSENT, TARGET_EMPTY, TARGET_OURS, TARGET_FOREIGN, TARGET_NO_FOLDER };

/* Does summary.json in the folder look like one of ours? Its first kilobyte is enough: "schema" is its first
 * key. */
static bool has_our_summary(int folder)
{
    char head[1024];
    int file = openat(folder, "summary.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n;

    if (file < 0)
        return false;
    n = read(file, head, sizeof head - 1);
    close(file);
    if (n <= 0)
        return false;
    head[n] = 0;
    return head[0] == '{' && strstr(head, "\"schema\"") && strstr(head, "\"scenario\"");
}

static bool is_empty(int folder)
{
    int copy = dup(folder);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    bool empty = true;

    if (!dir) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    while (empty && (entry = readdir(dir)))
        empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    closedir(dir);
    return empty;
}

static enum target_state target_state(const char *target)
{
    struct stat st;
    enum target_state state = TARGET_FOREIGN;
    int folder;

    if (lstat(target, &st))
        return errno == ENOENT ? TARGET_ABSENT : TARGET_NO_FOLDER;
    if (!S_ISDIR(st.st_mode))
        return TARGET_NO_FOLDER; /* a link to a folder too: renaming would replace the link */
    folder = open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return TARGET_FOREIGN;
    if (!fstatat(folder, marker, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
        state = TARGET_OURS;
    else if (has_our_summary(folder))
        state = TARGET_OURS;
    else if (is_empty(folder))
        state = TARGET_EMPTY;
    close(folder);
    return state;
}

/* ---- removal ---- */

/* Removes what is in a folder, never following links. Best effort: what stays makes the final rmdir fail.
 * Depth is bounded. */
static void remove_contents(int folder, int depth)
{
    int copy = dup(folder);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    if (!dir) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while ((entry = readdir(dir))) {
        int below;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (!unlinkat(folder, entry->d_name, 0) || depth == 0)
            continue;
        below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below < 0)
            continue;
        remove_contents(below, depth - 1);
        close(below);
        unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
    closedir(dir);
}

static void remove_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0)
        return;
    remove_contents(folder, 8);
    close(folder);
    rmdir(path);
}

/* ---- names ---- */

static bool name_is_safe(const char *name)
{
    size_t start = 0, length = strlen(name);

    if (!length || length >= OUTPUT_NAME ||
        strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/") != length)
        return false;
    for (size_t i = 0; i <= length; i++) {
        if (name[i] && name[i] != '/')
            continue;
        if (i == start || name[start] == '.')
            return false;
        start = i + 1;
    }
    return true;
}

/* Makes the folders above a name. */
static int make_folders(struct output_dir *out, const char *name, struct error *err)
{
    char part[OUTPUT_NAME];

    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(part, name, (size_t)(slash - name));
        part[slash - name] = 0;
        if (mkdirat(out->folder, part, 0777) && errno != EEXIST)
            return error_set(err, ERROR_SYSTEM, out->partial, "the folder %s cannot be made: %s", part,
                             strerror(errno));
    }
    return 0;
}

/* ---- life ---- */

static int target_error(const char *target, enum target_state state, struct error *err)
{
    if (state == TARGET_NO_FOLDER)
        return error_set(err, ERROR_USAGE, target, "exists and is not a folder; name another one with --out");
    return error_set(err, ERROR_USAGE, target,
                     "is a folder that holds something else than a result of peaksim, and is left alone; "
                     "name another one with --out");
}

static int begin(struct output_dir *out, struct error *err)
{
    enum target_state state = target_state(out->target);

    if (state == TARGET_FOREIGN || state == TARGET_NO_FOLDER)
        return target_error(out->target, state, err);
    /* Left by a killed process of the same number. */
    remove_folder(out->partial);
    if (mkdir(out->partial, 0777))
        return error_set(err, ERROR_SYSTEM, out->partial, "cannot be made: %s", strerror(errno));
    out->folder = open(out->partial, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (out->folder < 0)
        return error_set(err, ERROR_SYSTEM, out->partial, "cannot be opened: %s", strerror(errno));
    return 0;
}

int output_dir_begin(struct output_dir **result, const char *target, struct error *err)
{
    struct output_dir *out;
    size_t length = strlen(target);
    const char *last;

    *result = NULL;
    while (length > 1 && target[length - 1] == '/')
        length--;
    if (!length || length >= OUTPUT_PATH)
        return error_set(err, ERROR_USAGE, "--out", length ? "the path is too long" : "the path is empty");
    out = calloc(1, sizeof *out);
    if (!out)
        return error_memory(err, target);
    out->folder = -1;
    memcpy(out->target, target, length);
    last = strrchr(out->target, '/');
    last = last ? last + 1 : out->target;
    if (!*last || !strcmp(last, ".") || !strcmp(last, "..")) {
        free(out);
        return error_set(err, ERROR_USAGE, target,
                         "names no new folder: it must end in a name of its own, such as results");
    }
    snprintf(out->partial, sizeof out->partial, "%s.partial-%ld", out->target, (long)getpid());
    snprintf(out->old, sizeof out->old, "%s.old-%ld", out->target, (long)getpid());
    if (begin(out, err)) {
        output_dir_abort(out);
        return -1;
    }
    *result = out;
    return 0;
}

int output_dir_open(struct output_dir *out, const char *name, FILE **file, struct error *err)
{
    int descriptor;

    *file = NULL;
    if (!name_is_safe(name))
        return error_set(err, ERROR_INTERNAL, out->target, "\"%s\" is no name for a result file", name);
    if (out->count == OUTPUT_FILES)
        return error_set(err, ERROR_INTERNAL, out->target, "more than %d result files", OUTPUT_FILES);
    if (make_folders(out, name, err))
        return -1;
    descriptor = openat(out->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return error_set(err, errno == EEXIST ? ERROR_INTERNAL : ERROR_SYSTEM, out->partial,
                         "%s cannot be made: %s", name, strerror(errno));
    *file = fdopen(descriptor, "w");
    if (!*file) {
        close(descriptor);
        return error_memory(err, out->partial);
    }
    out->files[out->count].file = *file;
    snprintf(out->files[out->count++].name, OUTPUT_NAME, "%s", name);
    return 0;
}

static int close_checked(struct output_dir *out, struct output_file *file, struct error *err)
{
    bool failed;
    int cause;

    if (!file->file)
        return 0;
    errno = 0;
    failed = fflush(file->file) != 0 || ferror(file->file);
    cause = errno;
    failed = fclose(file->file) != 0 || failed;
    file->file = NULL;
    if (!failed)
        return 0;
    cause = cause ? cause : errno;
    return error_set(err, ERROR_SYSTEM, out->partial, "%s cannot be written: %s", file->name,
                     cause ? strerror(cause) : "an earlier write failed");
}

int output_dir_close_file(struct output_dir *out, FILE *file, struct error *err)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->files[i].file == file)
            return close_checked(out, &out->files[i], err);
    return error_set(err, ERROR_INTERNAL, out->target, "a file that was not opened here");
}

int output_dir_path(struct output_dir *out, const char *name, char *text, size_t size, struct error *err)
{
    if (!name_is_safe(name))
        return error_set(err, ERROR_INTERNAL, out->target, "\"%s\" is no name for a result file", name);
    if (make_folders(out, name, err))
        return -1;
    if ((size_t)snprintf(text, size, "%s/%s", out->partial, name) >= size)
        return error_set(err, ERROR_SYSTEM, out->target, "the path is too long");
    return 0;
}

static int write_marker(struct output_dir *out, struct error *err)
{
    int file = openat(out->folder, marker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    static const char text[] = "A result of peaksim: this folder may be replaced by the next run.\n";
    bool failed;

    failed = file < 0 || write(file, text, sizeof text - 1) != (ssize_t)sizeof text - 1;
    if (file >= 0 && close(file))
        failed = true;
    return failed ? error_set(err, ERROR_SYSTEM, out->partial, "%s cannot be written: %s", marker,
                              strerror(errno))
                  : 0;
}

/* Target and partial folder change places; a failure puts the old result back. */
static int swap(struct output_dir *out, struct error *err)
{
    enum target_state state = target_state(out->target);
    int cause;

    /* Again, since a long run lies between: what came meanwhile may not be ours. */
    if (state == TARGET_FOREIGN || state == TARGET_NO_FOLDER)
        return target_error(out->target, state, err);
    if (state == TARGET_OURS) {
        remove_folder(out->old);
        if (rename(out->target, out->old))
            return error_set(err, ERROR_SYSTEM, out->target, "the earlier result cannot be moved away: %s",
                             strerror(errno));
    }
    if (rename(out->partial, out->target)) {
        cause = errno;
        if (state == TARGET_OURS)
            rename(out->old, out->target);
        return error_set(err, ERROR_SYSTEM, out->target, "cannot be put in place: %s", strerror(cause));
    }
    if (state == TARGET_OURS)
        remove_folder(out->old);
    return 0;
}

int output_dir_commit(struct output_dir *out, struct error *err)
{
    int status = 0;

    for (size_t i = 0; i < out->count; i++)
        if (close_checked(out, &out->files[i], err))
            status = -1;
    if (!status)
        status = write_marker(out, err);
    if (!status)
        status = swap(out, err);
    if (status) {
        output_dir_abort(out);
        return -1;
    }
    close(out->folder);
    free(out);
    return 0;
}

void output_dir_abort(struct output_dir *out)
{
    if (!out)
        return;
    for (size_t i = 0; i < out->count; i++)
        if (out->files[i].file)
            fclose(out->files[i].file);
    if (out->folder >= 0) {
        close(out->folder);
        remove_folder(out->partial);
    }
    free(out);
}
