/*
 * Stands between a server and its disk: counts the calls that touch files below RIG_DIRECTORY, and lets the one that is asked for fail, be
 * cut short, or end the process, or refuses to let files grow. What it does is said in a file that is mapped (RIG_CONTROL), so that a rig
 * can change it while the server runs. See faulty-disk.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, SYNC = 4, TRUNCATE = 8, RENAME = 16, UNLINK = 32, READ = 64 };
enum { EIO_ONCE = 1, ENOSPC_ONCE = 2, SHORT = 3, KILL_BEFORE = 4, KILL_AFTER = 5 };

struct control {
  int64_t calls;      /* that counted so far */
  int64_t at;         /* the call that it happens to, from 1; 0 = none */
  int64_t action;
  int64_t forever;    /* 1 = to all after it, too */
  int64_t operations; /* that count */
  int64_t quota;      /* bytes that files may still grow by; negative = no end */
  char match[128];    /* what a path must contain to count; empty = nothing */
  char hit[256];      /* the call that it happened to */
};

#define FILES 65536
static struct control *control;
static const char *directory;
static char *paths[FILES];

#define REAL(type, name, ...)                                 \
  static type (*real_##name)(__VA_ARGS__);                    \
  if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("RIG_CONTROL");
  directory = getenv("RIG_DIRECTORY");
  if (!path || !directory) return;
  int fd = open(path, O_RDWR);
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (map != MAP_FAILED) control = map;
}

static int is_ours(const char *path) {
  return control && directory && path && strncmp(path, directory, strlen(directory)) == 0;
}

static int is_meant(const char *path) {
  return control && path && (control->match[0] == 0 || strstr(path, control->match) != NULL);
}

/* Node closes files without calling close(): the number may be a socket's by now. */
static const char *path_of(int fd) {
  struct stat now;
  if (fd < 0 || fd >= FILES || !paths[fd]) return NULL;
  return fstat(fd, &now) == 0 && S_ISREG(now.st_mode) ? paths[fd] : NULL;
}

static void end_process(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* What is to happen to this call: 0 = nothing. */
static int64_t fate(int operation, const char *name, const char *path) {
  if (!is_meant(path) || !(control->operations & operation)) return 0;
  int64_t call = __atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST);
  if (control->at == 0 || call < control->at || (call > control->at && !control->forever)) return 0;
  if (call == control->at)
    snprintf(control->hit, sizeof control->hit, "%s of %s", name, path + strlen(directory));
  int64_t action = control->action;
  if (action == KILL_BEFORE) end_process();
  if (action == EIO_ONCE) errno = EIO;
  if (action == ENOSPC_ONCE) errno = ENOSPC;
  return action;
}

#define FAILS(what) ((what) == EIO_ONCE || (what) == ENOSPC_ONCE)

/* Takes what a file grows by from the quota; 0 where there is not enough. */
static int grow(int fd, const char *path, int64_t end) {
  if (!is_meant(path) || control->quota < 0) return 1;
  struct stat now;
  if (fstat(fd, &now) != 0 || end <= now.st_size) return 1;
  int64_t more = end - now.st_size;
  if (more > control->quota) {
    errno = ENOSPC;
    return 0;
  }
  __atomic_sub_fetch(&control->quota, more, __ATOMIC_SEQ_CST);
  return 1;
}

static void give_back(const char *path, int64_t bytes) {
  if (is_meant(path) && control->quota >= 0 && bytes > 0)
    __atomic_add_fetch(&control->quota, bytes, __ATOMIC_SEQ_CST);
}

static int remember(int fd, const char *path) {
  if (fd >= 0 && fd < FILES) {
    free(paths[fd]);
    paths[fd] = is_ours(path) ? strdup(path) : NULL;
  }
  return fd;
}

#define OPEN_LIKE(name)                                            \
  int name(const char *path, int flags, ...) {                     \
    REAL(int, name, const char *, int, ...);                       \
    va_list rest;                                                  \
    va_start(rest, flags);                                         \
    int mode = va_arg(rest, int);                                  \
    va_end(rest);                                                  \
    int64_t what = is_ours(path) ? fate(OPEN, "open", path) : 0;   \
    if (FAILS(what)) return -1;                                    \
    int fd = remember(real_##name(path, flags, mode), path);       \
    if (what == KILL_AFTER) end_process();                         \
    return fd;                                                     \
  }
OPEN_LIKE(open)
OPEN_LIKE(open64)

int close(int fd) {
  REAL(int, close, int);
  if (fd >= 0 && fd < FILES && paths[fd]) {
    free(paths[fd]);
    paths[fd] = NULL;
  }
  return real_close(fd);
}

#define WRITE_LIKE(name, offset_type, offset_parameter, offset_argument, end)            \
  ssize_t name(int fd, const void *data, size_t size offset_parameter) {                 \
    REAL(ssize_t, name, int, const void *, size_t offset_type);                          \
    const char *path = path_of(fd);                                                      \
    if (!path) return real_##name(fd, data, size offset_argument);                       \
    int64_t what = fate(WRITE, "write", path);                                           \
    if (FAILS(what) || !grow(fd, path, (end) + (int64_t)size)) return -1;                \
    if (what == SHORT && size > 1) size /= 2;                                            \
    ssize_t written = real_##name(fd, data, size offset_argument);                       \
    if (what == KILL_AFTER) end_process();                                               \
    return written;                                                                      \
  }
#define COMMA ,
WRITE_LIKE(write, , , , lseek(fd, 0, SEEK_CUR))
WRITE_LIKE(pwrite, COMMA off_t, COMMA off_t offset, COMMA offset, offset)
WRITE_LIKE(pwrite64, COMMA off64_t, COMMA off64_t offset, COMMA offset, offset)

#define VECTOR_LIKE(name, offset_type, offset_parameter, offset_argument, end)           \
  ssize_t name(int fd, const struct iovec *parts, int count offset_parameter) {          \
    REAL(ssize_t, name, int, const struct iovec *, int offset_type);                     \
    const char *path = path_of(fd);                                                      \
    if (!path) return real_##name(fd, parts, count offset_argument);                     \
    int64_t size = 0;                                                                    \
    for (int i = 0; i < count; i++) size += (int64_t)parts[i].iov_len;                   \
    int64_t what = fate(WRITE, "write", path);                                           \
    if (FAILS(what) || !grow(fd, path, (end) + size)) return -1;                         \
    ssize_t written = real_##name(fd, parts, what == SHORT ? 1 : count offset_argument); \
    if (what == KILL_AFTER) end_process();                                               \
    return written;                                                                      \
  }
VECTOR_LIKE(writev, , , , lseek(fd, 0, SEEK_CUR))
VECTOR_LIKE(pwritev, COMMA off_t, COMMA off_t offset, COMMA offset, offset)
VECTOR_LIKE(pwritev64, COMMA off64_t, COMMA off64_t offset, COMMA offset, offset)

#define READ_LIKE(name, offset_type, offset_parameter, offset_argument)                  \
  ssize_t name(int fd, void *data, size_t size offset_parameter) {                       \
    REAL(ssize_t, name, int, void *, size_t offset_type);                                \
    const char *path = path_of(fd);                                                      \
    if (path && FAILS(fate(READ, "read", path))) return -1;                              \
    return real_##name(fd, data, size offset_argument);                                  \
  }
READ_LIKE(read, , , )
READ_LIKE(pread, COMMA off_t, COMMA off_t offset, COMMA offset)
READ_LIKE(pread64, COMMA off64_t, COMMA off64_t offset, COMMA offset)

#define SYNC_LIKE(name)                                        \
  int name(int fd) {                                           \
    REAL(int, name, int);                                      \
    const char *path = path_of(fd);                            \
    int64_t what = path ? fate(SYNC, "sync", path) : 0;        \
    if (FAILS(what)) return -1;                                \
    int result = real_##name(fd);                              \
    if (what == KILL_AFTER) end_process();                     \
    return result;                                             \
  }
SYNC_LIKE(fsync)
SYNC_LIKE(fdatasync)

#define TRUNCATE_LIKE(name, offset_type)                                    \
  int name(int fd, offset_type size) {                                      \
    REAL(int, name, int, offset_type);                                      \
    const char *path = path_of(fd);                                         \
    if (!path) return real_##name(fd, size);                                \
    int64_t what = fate(TRUNCATE, "truncate", path);                        \
    if (FAILS(what) || !grow(fd, path, size)) return -1;                    \
    struct stat before;                                                     \
    int is_known = fstat(fd, &before) == 0;                                 \
    int result = real_##name(fd, size);                                     \
    if (result == 0 && is_known) give_back(path, before.st_size - size);    \
    if (what == KILL_AFTER) end_process();                                  \
    return result;                                                          \
  }
TRUNCATE_LIKE(ftruncate, off_t)
TRUNCATE_LIKE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
  REAL(int, rename, const char *, const char *);
  int64_t what = is_ours(to) ? fate(RENAME, "rename", to) : 0;
  if (FAILS(what)) return -1;
  int result = real_rename(from, to);
  if (what == KILL_AFTER) end_process();
  return result;
}

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  if (!is_ours(path)) return real_unlink(path);
  int64_t what = fate(UNLINK, "unlink", path);
  if (FAILS(what)) return -1;
  struct stat before;
  int is_known = stat(path, &before) == 0;
  int result = real_unlink(path);
  if (result == 0 && is_known) give_back(path, before.st_size);
  if (what == KILL_AFTER) end_process();
  return result;
}

/* How much room there is, is what the quota leaves. */
#define STATFS_LIKE(name)                                               \
  int name(const char *path, struct name *room) {                       \
    REAL(int, name, const char *, struct name *);                       \
    int result = real_##name(path, room);                               \
    if (result == 0 && is_ours(path) && control->quota >= 0)            \
      room->f_bavail = room->f_bfree = control->quota / room->f_bsize;  \
    return result;                                                      \
  }
STATFS_LIKE(statfs)
STATFS_LIKE(statfs64)
