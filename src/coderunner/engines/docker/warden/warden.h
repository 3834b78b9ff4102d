/* What the parts of the warden share: see warden.c for what it is. */

#ifndef WARDEN_H
#define WARDEN_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define TOKEN_SIZE 32
#define ASK_TO_END 64 /* the signal that no program can send: see profile.py */

/* All that a job says, in the order in which it is sent: numbers first, each of 64 bits. */
struct order {
    uint64_t wall_ms, cpu_ms, memory_kb, processes;           /* cpu_ms: 0 for none */
    uint64_t file_bytes, open_files, stack_bytes, space_bytes; /* space_bytes: 0 for none */
    uint64_t collect, stay, argc, envc, text_bytes, entries, entries_bytes, brought_kb;
    char token[TOKEN_SIZE];
    char **argv, **env;
    char *directory;
    char *text; /* what the words lie in */
};

/* Bits of `st_mode` that an entry's mode is one of, beside its permissions. */
enum { ENTRY_FILE = 0100000, ENTRY_DIRECTORY = 0040000, ENTRY_LINK = 0120000 };

/* What goes in behind an order, and all that comes out, is in frames. */
struct head {
    uint32_t kind, size;
};
enum { GO = 1, STDIN, STDIN_END, DONE };                       /* in */
enum { HEARD = 1, OUTPUT, FILES, END, DEAF, REPORT, WIPED };   /* out */

/* order.c: what comes in. They return 0, or an errno. */
int read_order(struct order *order);
int read_entries(const struct order *order); /* all of them, also if one cannot be made */
int read_fully(int fd, void *place, size_t size);
void forget_order(struct order *order);

/* program.c: returns an errno if it could not be started, and what could not be done. */
struct ends {
    int in, out, err; /* ours, of the program's stdin, stdout and stderr */
};
int start_program(const struct order *order, struct ends *ends, pid_t *pid);
void end_everybody(void);

/* pump.c: between the program and whoever has sent the order. */
enum { SIGNALLED = 1, LEFT_ALONE = 2 };
int pump_open(void);
void pump_start(const struct ends *ends);
int pump(int signals, uint64_t most_us); /* what has happened meanwhile, of the above */
void pump_rest(void);                    /* all that the dead have written */
int pump_until_done(void);               /* 0, or an errno; drops what is left of the stdin */
void tell(int fd, uint32_t kind, const void *first, size_t first_size, const void *words,
          size_t size);

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
void meters_look(void);
void meters_sample(uint64_t *tasks);
void meters_reaped(const struct rusage *used);

/* sending.c: the files that the program has left. */
void send_workspace(const struct order *order);

/* wiping.c: returns what could not be made as it was before the first job, or NULL; `error` then
   says why. */
void wiping_open(void);
const char *wipe(int *error);

/* emptying.c: 0, or an errno. Leaves the directory itself. */
int empty(int directory, uint64_t deadline_us);

uint64_t now_us(void);

#endif
