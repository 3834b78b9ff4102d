/* What the parts of process 1 have in common: see process1.c. */
#ifndef PROCESS1_H
#define PROCESS1_H

#include <sys/types.h>

#define VERSION 2 /* of the plan and of the job */

enum { CHANNEL = 3 }; /* the line to the spawner; what else is handed over comes after it */

/* For the library, whose names must not be mixed up with those of the interpreter that loads it. */
#pragma GCC visibility push(hidden)

/* player.c */
void say(const char *format, ...);
_Noreturn void fail(const char *name, const char *why);
void play(char *plan);

/* process1.c */
void place(const int *fds, int count, int first);
_Noreturn void live(pid_t program);

#pragma GCC visibility pop

#endif
