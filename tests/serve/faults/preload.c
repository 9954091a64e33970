// Makes an operation on files of one directory fail, for tests/serve/faults/run.py:
//   cc -shared -fPIC -o preload.so preload.c -ldl
//   LD_PRELOAD=preload.so FAULT_DIRECTORY=/dir/ FAULT=write|partial|sync FAULT_AT=N program
//   LD_PRELOAD=preload.so FAULT_DIRECTORY=/dir/ FAULT=full FAULT_SUFFIX=.new program
// FAULT=full: every write to a file whose name ends in FAULT_SUFFIX fails with ENOSPC. FAULT=write: the Nth write fails with EIO. FAULT=partial: the Nth write stores one half, and later writes fail with
// ENOSPC. FAULT=sync: the Nth fdatasync fails with EIO; as on Linux, the next one succeeds.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long count;

static int is_watched(int fd) {
    const char *directory = getenv("FAULT_DIRECTORY"), *suffix = getenv("FAULT_SUFFIX");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!directory || length < 0) return 0;
    path[length] = 0;
    size_t end = suffix ? strlen(suffix) : 0;
    if (end > (size_t)length || strcmp(path + length - end, suffix ? suffix : "") != 0) return 0;
    return strncmp(path, directory, strlen(directory)) == 0;
}

static int is_fault(const char *fault) {
    const char *wanted = getenv("FAULT");
    return wanted && strcmp(wanted, fault) == 0;
}

static long at(void) {
    const char *text = getenv("FAULT_AT");
    return text ? atol(text) : 0;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = dlsym(RTLD_NEXT, "write");
    if (is_fault("full") && is_watched(fd)) { errno = ENOSPC; return -1; }
    if ((is_fault("write") || is_fault("partial")) && is_watched(fd)) {
        long now = ++count;
        if (is_fault("write") && now == at()) { errno = EIO; return -1; }
        if (is_fault("partial") && now == at()) return next(fd, bytes, length / 2);
        if (is_fault("partial") && now > at()) { errno = ENOSPC; return -1; }
    }
    return next(fd, bytes, length);
}

int fdatasync(int fd) {
    static int (*next)(int);
    if (!next) next = dlsym(RTLD_NEXT, "fdatasync");
    if (is_fault("sync") && is_watched(fd) && ++count == at()) { errno = EIO; return -1; }
    return next(fd);
}
