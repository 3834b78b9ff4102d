/* What the parts of the warden share: see warden.c for what it is. */

#ifndef WARDEN_H
#define WARDEN_H

#include <stdint.h>
#include <sys/types.h>

#define TOKEN_SIZE 32

/* All that a job says, in the order in which it is sent: numbers first, each of 64 bits. */
struct order {
    uint64_t wall_ms, cpu_ms, memory_kb, processes;           /* cpu_ms: 0 for none */
    uint64_t file_bytes, open_files, stack_bytes, space_bytes; /* space_bytes: 0 for none */
    uint64_t collect, argc, envc, text_bytes, entries, brought_kb;
    char token[TOKEN_SIZE];
    char **argv, **env;
    char *directory;
};

/* Bits of `st_mode` that an entry's mode is one of, beside its permissions. */
enum { ENTRY_FILE = 0100000, ENTRY_DIRECTORY = 0040000, ENTRY_LINK = 0120000 };

struct usage {
    uint64_t cpu_us, peak_kb;
};

/* order.c: what comes in. They return 0, or an errno. */
int read_order(struct order *order);
int read_entries(const struct order *order);
int read_fully(int fd, void *place, size_t size);

/* program.c: returns an errno if it could not be started, and what could not be done. */
int start_program(const struct order *order, pid_t *pid);
void end_everybody(void);

/* meters.c */
void meters_open(void);
void meters_trust(uint64_t memory_kb); /* all that the container may use */
void meters_start(uint64_t brought_kb);
int meters_metered(void); /* whether a cgroup can be read */
uint64_t meters_cpu_us(void);
uint64_t meters_peak_kb(void);
int meters_out_of_memory(void);
int meters_too_many(void);
int meters_too_many_locks(void);
void meters_sample(uint64_t *tasks);

/* sending.c: what goes out, behind all that the program has written. */
void say(int fd, const void *words, size_t size);
void send_workspace(const struct order *order);

#endif
