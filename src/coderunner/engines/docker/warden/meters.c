/* What the program used, as its cgroup says; v2 or v1. Where none can be read, as in gVisor, the
   processes are looked at one by one. */

#define _GNU_SOURCE
#include "warden.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup/"
#define MANY_LOCKS 5000

#define MUCH_LEFT_KB 1024
#define SLACK_KB 4096 /* a limit may have been rounded up */

static int cpu = -1, peak = -1, current = -1, kinds = -1, ooms = -1, forks = -1, most = -1, cpu_unit_ns = 1;
static uint64_t cpu_before, peak_before, ooms_before, forks_before;
static uint64_t brought_kb, left_kb; /* in memory, and not this program's: files, earlier ones' cache */
static uint64_t own_us, seen_current, seen_kb; /* own_us: when the program began */
static uint64_t sampled_peak_kb, sampled_cpu_us, reaped_us, largest_kb;

static int opened(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

/* The number behind a key, or the first one if there is no key. */
static uint64_t number(int fd, const char *key) {
    char text[4096];
    ssize_t size = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
    if (size <= 0) return 0;
    text[size] = 0;
    const char *place = text;
    while (key && place && strncmp(place, key, strlen(key))) {
        place = strchr(place, '\n');
        if (place) place++;
    }
    return place ? strtoull(place + (key ? strlen(key) : 0), NULL, 10) : 0;
}

static uint64_t cpu_us(void) {
    return cpu_unit_ns ? number(cpu, NULL) / 1000 : number(cpu, "usage_usec ");
}

/* Ours, for passing on what the program reads and writes. */
static uint64_t wardens_us(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000u + (uint64_t)used.tv_nsec / 1000;
}

static uint64_t less(uint64_t most, uint64_t part) { return most > part ? most - part : 0; }

void meters_open(void) {
    current = opened(ROOT "memory.current");
    if (current >= 0) {
        cpu_unit_ns = 0;
        cpu = opened(ROOT "cpu.stat");
        peak = opened(ROOT "memory.peak");
        kinds = opened(ROOT "memory.stat");
        ooms = opened(ROOT "memory.events");
        forks = opened(ROOT "pids.events");
        most = opened(ROOT "memory.max");
        return;
    }
    cpu = opened(ROOT "cpuacct/cpuacct.usage");
    current = opened(ROOT "memory/memory.usage_in_bytes");
    peak = opened(ROOT "memory/memory.max_usage_in_bytes");
    kinds = opened(ROOT "memory/memory.stat");
    ooms = opened(ROOT "memory/memory.oom_control");
    forks = opened(ROOT "pids/pids.events");
    most = opened(ROOT "memory/memory.limit_in_bytes");
}

/* A daemon without cgroups, such as many a rootless one, shows us somebody else's, and holds nobody
   to anything. Ours has the limit that was asked for. */
void meters_trust(uint64_t memory_kb) {
    uint64_t held_kb = number(most, NULL) / 1024;
    if (held_kb && held_kb <= memory_kb + SLACK_KB) return;
    cpu = peak = current = kinds = ooms = forks = -1;
}

int meters_metered(void) { return cpu >= 0 && current >= 0 && ooms >= 0; }

/* The files that the caller has brought are in memory, too, and not the program's. Nor is what
   earlier ones have left there, in the kernel's caches; what it takes to run a container at all is,
   as in a fresh one. */
void meters_start(uint64_t kb) {
    static uint64_t first_kb;
    uint64_t before_kb = less(number(current, NULL) / 1024, kb);
    if (!first_kb) first_kb = before_kb + 1;
    brought_kb = kb;
    left_kb = less(before_kb + 1, first_kb);
    own_us = wardens_us();
    seen_current = seen_kb = sampled_peak_kb = sampled_cpu_us = reaped_us = largest_kb = 0;
    cpu_before = cpu_us();
    peak_before = number(peak, NULL);
    ooms_before = number(ooms, "oom_kill ");
    forks_before = number(forks, "max ");
}

void meters_reaped(const struct rusage *used) {
    reaped_us += (uint64_t)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000u +
                 (uint64_t)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
    if ((uint64_t)used->ru_maxrss > largest_kb) largest_kb = (uint64_t)used->ru_maxrss;
}

uint64_t meters_cpu_us(void) {
    if (meters_metered()) return less(cpu_us() - cpu_before, wardens_us() - own_us);
    return reaped_us > sampled_cpu_us ? reaped_us : sampled_cpu_us;
}

/* What earlier ones have left in the kernel's caches can make room for this one meanwhile, so that
   it were wrong to leave all of it out. If it is much: no less than what is in no cache. */
void meters_look(void) {
    uint64_t now = number(current, NULL);
    if (now > seen_current) seen_current = now;
    if (left_kb < MUCH_LEFT_KB) return;
    uint64_t anonymous = number(kinds, cpu_unit_ns ? "rss " : "anon ");
    uint64_t kb = less((anonymous + number(kinds, "shmem ")) / 1024, brought_kb);
    if (kb > seen_kb) seen_kb = kb;
}

/* The cgroup's peak is of all that ever was in it: of what has started the container, and of
   earlier programs. If this one was larger, or had all that there is, it is this one's. If not, the
   best that is known is what was seen every now and then, and its largest process. */
uint64_t meters_peak_kb(void) {
    uint64_t peak_now = number(peak, NULL);
    int is_its_own = peak_now > peak_before || meters_out_of_memory();
    uint64_t kb = less((is_its_own ? peak_now : seen_current) / 1024, brought_kb + left_kb);
    if (seen_kb > kb) kb = seen_kb;
    if (is_its_own) return kb; /* a process shows pages, too, that others pay for */
    if (sampled_peak_kb > kb) kb = sampled_peak_kb;
    return kb > largest_kb ? kb : largest_kb;
}

int meters_out_of_memory(void) { return number(ooms, "oom_kill ") > ooms_before; }
int meters_too_many(void) { return number(forks, "max ") > forks_before; }

/* Locks on parts of files are memory of the kernel's that no cgroup counts. /proc shows those of
   our own pid namespace. */
int meters_too_many_locks(void) {
    static char text[1 << 16];
    int fd = opened("/proc/locks"), lines = 0;
    for (ssize_t size; fd >= 0 && lines < MANY_LOCKS && (size = read(fd, text, sizeof text)) > 0;)
        for (ssize_t place = 0; place < size; place++) lines += text[place] == '\n';
    if (fd >= 0) close(fd);
    return lines >= MANY_LOCKS;
}

static int read_file(const char *pid, const char *name, char *text, size_t size) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
    int fd = opened(path);
    ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0) close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

static void sample_one(const char *pid, uint64_t *kb, uint64_t *ticks, uint64_t *tasks) {
    char text[2048];
    unsigned long long user = 0, kernel = 0, waited_user = 0, waited_kernel = 0, threads = 0;
    unsigned long long resident = 0;
    if (!read_file(pid, "stat", text, sizeof text) || !strrchr(text, ')')) return;
    sscanf(strrchr(text, ')') + 2,
           "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %llu %*d %*u "
           "%*u %llu",
           &user, &kernel, &waited_user, &waited_kernel, &threads, &resident);
    *ticks += user + kernel + waited_user + waited_kernel;
    *kb += resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
    *tasks += threads ? threads : 1;
}

void meters_sample(uint64_t *tasks) {
    uint64_t kb = 0, ticks = 0;
    char own[16];
    DIR *proc = opendir("/proc");
    *tasks = 0;
    if (!proc) return;
    snprintf(own, sizeof own, "%d", (int)getpid());
    for (struct dirent *one; (one = readdir(proc));)
        if (isdigit((unsigned char)one->d_name[0]) && strcmp(one->d_name, own))
            sample_one(one->d_name, &kb, &ticks, tasks);
    closedir(proc);
    uint64_t us = ticks * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    us += reaped_us;
    if (kb > sampled_peak_kb) sampled_peak_kb = kb;
    if (us > sampled_cpu_us) sampled_cpu_us = us;
}
