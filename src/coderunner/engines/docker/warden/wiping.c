/* What a program has left in places that outlive it, removed for the next one; and a look whether
   everything is as it was before the first. */

#define _GNU_SOURCE
#include "warden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define MOST_US 5000000
#define PATIENCE_US 100000 /* for what the kernel lets go of a moment later */
#define WORKSPACE_MODE 0755

/* All that is writable: the rest of the container is read-only. */
static struct place {
    const char *path;
    int is_ours; /* and so can be changed itself, not only what is in it */
    struct statfs was;
} places[] = {{.path = "/workspace", .is_ours = 1}, {.path = "/tmp"}, {.path = "/dev/shm"},
              {.path = "/dev/mqueue"}};
#define PLACES (sizeof places / sizeof *places)

static int mounts = -1, niceness, sockets;
static struct rlimit limits[RLIM_NLIMITS];

/* What /proc says of sockets, behind a key in a line. */
static int number_behind(const char *text, const char *line, const char *key) {
    const char *place = strstr(text, line), *stop = place ? strchr(place, '\n') : NULL;
    place = place ? strstr(place, key) : NULL;
    return place && (!stop || place < stop) ? atoi(place + strlen(key)) : 0;
}

static void read_sockets(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    text[got > 0 ? got : 0] = 0;
}

static int count_sockets(void) {
    char text[2048];
    read_sockets("/proc/self/net/sockstat", text, sizeof text);
    return number_behind(text, "sockets:", " used ");
}

void wiping_open(void) {
    sockets = count_sockets();
    niceness = getpriority(PRIO_PROCESS, 0);
    for (int kind = 0; kind < (int)RLIM_NLIMITS; kind++) getrlimit(kind, &limits[kind]);
    for (struct place *place = places; place < places + PLACES; place++)
        if (statfs(place->path, &place->was)) place->path = NULL; /* not in this container */
    mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
}

/* Also by those whom nobody has any more, but which are still open in a socket's queue. */
static int is_used(const struct place *place) {
    struct statfs now;
    if (statfs(place->path, &now)) return 1;
    return now.f_bfree != place->was.f_bfree || now.f_ffree != place->was.f_ffree;
}

/* A directory of the program's own may have any mode, and words of its own attached to it. */
static int make_usual(int fd) {
    char names[65536];
    ssize_t size = flistxattr(fd, names, sizeof names);
    if (size < 0 && errno != ENOTSUP) return errno;
    for (ssize_t place = 0; place < size; place += (ssize_t)strlen(names + place) + 1)
        if (fremovexattr(fd, names + place)) return errno;
    if (fchmod(fd, WORKSPACE_MODE)) return errno;
    return futimens(fd, NULL) ? errno : 0;
}

static int wipe_place(const struct place *place, uint64_t deadline) {
    if (place->is_ours && chmod(place->path, 0700)) return errno;
    int fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    int error = empty(fd, deadline);
    if (!error && place->is_ours) error = make_usual(fd);
    close(fd);
    for (uint64_t until = now_us() + PATIENCE_US; !error && is_used(place);) {
        const struct timespec moment = {0, 1000000};
        if (now_us() > until) return EBUSY;
        nanosleep(&moment, NULL);
    }
    return error;
}

/* What belongs to the ipc namespace, and to nobody in it. */
static int wipe_ipc(void) {
    struct shm_info memory;
    struct shmid_ds segment;
    struct msginfo queues;
    struct msqid_ds queue;
    union {
        struct seminfo *info;
        struct semid_ds *set;
    } semaphores;
    struct seminfo info;
    struct semid_ds set;
    int most = shmctl(0, SHM_INFO, (struct shmid_ds *)&memory);
    if (most < 0) return errno;
    for (int index = memory.used_ids ? 0 : most + 1, id; index <= most; index++)
        if ((id = shmctl(index, SHM_STAT, &segment)) >= 0 && shmctl(id, IPC_RMID, NULL))
            return errno;
    most = msgctl(0, MSG_INFO, (struct msqid_ds *)&queues);
    if (most < 0) return errno;
    for (int index = queues.msgpool ? 0 : most + 1, id; index <= most; index++)
        if ((id = msgctl(index, MSG_STAT, &queue)) >= 0 && msgctl(id, IPC_RMID, NULL))
            return errno;
    semaphores.info = &info;
    if ((most = semctl(0, 0, SEM_INFO, semaphores)) < 0) return errno;
    semaphores.set = &set;
    for (int index = info.semusz ? 0 : most + 1, id; index <= most; index++)
        if ((id = semctl(index, 0, SEM_STAT, semaphores)) >= 0 && semctl(id, 0, IPC_RMID))
            return errno;
    return 0;
}

/* Sockets that lie in each other's queues outlive their program until the kernel comes to them:
   with their names and ports, and open to whoever connects. */
static int has_sockets(void) {
    for (uint64_t until = now_us() + PATIENCE_US; count_sockets() > sockets;) {
        const struct timespec moment = {0, 1000000};
        if (now_us() > until) return 1;
        nanosleep(&moment, NULL);
    }
    return 0;
}

/* Connections that live on without a process (TIME_WAIT) keep their port from the next program. */
static int has_connections(const char *path, const char *line) {
    char text[2048];
    read_sockets(path, text, sizeof text);
    return number_behind(text, line, " inuse ") || number_behind(text, line, " tw ");
}

/* Names for flows of IPv6, with an address of the program's choice: kept for a minute, and to be read
   by anybody. */
static int has_flow_labels(void) {
    char text[2048];
    read_sockets("/proc/self/net/ip6_flowlabel", text, sizeof text);
    const char *end_of_head = strchr(text, '\n');
    return end_of_head && end_of_head[1];
}

/* Programs start with what we have. The system-call filter keeps them from setting it. */
static int is_limited(void) {
    for (int kind = 0; kind < (int)RLIM_NLIMITS; kind++) {
        struct rlimit now = {0, 0};
        getrlimit(kind, &now);
        if (memcmp(&now, &limits[kind], sizeof now)) return 1;
    }
    return getpriority(PRIO_PROCESS, 0) != niceness;
}

static const char *look(int *error) {
    struct pollfd changed = {mounts, POLLPRI, 0};
    *error = 0;
    if (!kill(-1, 0) || errno != ESRCH) return "processes";
    if (mounts < 0 || poll(&changed, 1, 0)) return "mounts";
    if (is_limited()) return "limits";
    if (has_sockets()) return "sockets";
    if (has_flow_labels()) return "flow-labels";
    if (has_connections("/proc/self/net/sockstat", "TCP:")) return "connections";
    if (has_connections("/proc/self/net/sockstat6", "TCP6:")) return "connections";
    return NULL;
}

const char *wipe(int *error) {
    uint64_t deadline = now_us() + MOST_US;
    for (const struct place *place = places; place < places + PLACES; place++)
        if (place->path && (*error = wipe_place(place, deadline))) return place->path;
    if ((*error = wipe_ipc())) return "ipc";
    return look(error);
}
