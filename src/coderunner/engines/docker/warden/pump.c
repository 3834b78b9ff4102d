/* Between the program and whoever has sent the order: frames in and out, bytes to and from the
   program's own pipes.

   Nothing here waits for the program, nor for whoever reads what it writes: the clock runs on. What
   finds no room stays where it is, so that each side is held up by the other as with any pipe. */

#define _GNU_SOURCE
#include "warden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 65536

/* One of the program's outputs: read from a pipe, passed on in frames. */
struct outlet {
    int from, to, deaf; /* deaf: to be told that the program has closed its stdin */
    size_t done, size;
    char data[sizeof(struct head) + CHUNK];
};

static struct outlet outlets[2] = {{.from = -1, .to = 1}, {.from = -1, .to = 2}};

/* The program's stdin: `left` bytes are still to come of the frame, of which `data` holds some. */
static struct {
    int to, is_over;
    size_t head_size, left, done, size;
    struct head head;
    char data[CHUNK];
} inlet = {.to = -1};

static int never_wait(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? errno : 0;
}

int pump_open(void) {
    int error = never_wait(1);
    return error ? error : never_wait(2);
}

static void end(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

void pump_start(const struct ends *ends) {
    outlets[0].from = ends->out;
    outlets[1].from = ends->err;
    inlet.to = ends->in;
    inlet.done = inlet.size = 0;
    never_wait(ends->out);
    never_wait(ends->err);
    never_wait(ends->in);
}

/* 0 if nothing more can be written for now. */
static ssize_t put(int fd, const void *words, size_t size) {
    for (;;) {
        ssize_t done = write(fd, words, size);
        if (done >= 0) return done;
        if (errno == EAGAIN) return 0;
        if (errno != EINTR) exit(125); /* nobody listens any more */
    }
}

static void put_all(int fd, const char *words, size_t size) {
    while (size) {
        struct pollfd room = {fd, POLLOUT, 0};
        ssize_t done = put(fd, words, size);
        words += done;
        size -= (size_t)done;
        if (size) poll(&room, 1, -1);
    }
}

void tell(int fd, uint32_t kind, const void *first, size_t first_size, const void *words,
          size_t size) {
    struct head head = {kind, (uint32_t)(first_size + size)};
    char begin[sizeof head + TOKEN_SIZE];
    memcpy(begin, &head, sizeof head);
    if (first_size) memcpy(begin + sizeof head, first, first_size);
    put_all(fd, begin, sizeof head + first_size);
    put_all(fd, words, size);
}

static void frame(struct outlet *outlet, uint32_t kind, size_t size) {
    struct head head = {kind, (uint32_t)size};
    memcpy(outlet->data, &head, sizeof head);
    outlet->done = 0;
    outlet->size = sizeof head + size;
}

/* Whether there was something. */
static int fill(struct outlet *outlet) {
    if (outlet->deaf) {
        outlet->deaf = 0;
        frame(outlet, DEAF, 0);
        return 1;
    }
    if (outlet->from < 0) return 0;
    ssize_t got = read(outlet->from, outlet->data + sizeof(struct head), CHUNK);
    if (got > 0) frame(outlet, OUTPUT, (size_t)got);
    if (!got) end(&outlet->from);
    return got > 0;
}

static int is_full(const struct outlet *outlet) { return outlet->done < outlet->size; }

static void drain(struct outlet *outlet) {
    outlet->done += (size_t)put(outlet->to, outlet->data + outlet->done, outlet->size - outlet->done);
}

static void turn_outlet(struct outlet *outlet) {
    if (is_full(outlet) || fill(outlet)) drain(outlet);
}

/* What has come of the head of a frame. EOF: LEFT_ALONE. */
static int read_head(void) {
    char *place = (char *)&inlet.head + inlet.head_size;
    ssize_t got = read(0, place, sizeof inlet.head - inlet.head_size);
    if (got < 0) return errno == EINTR || errno == EAGAIN ? 0 : LEFT_ALONE;
    if (!got) return LEFT_ALONE;
    inlet.head_size += (size_t)got;
    if (inlet.head_size < sizeof inlet.head) return 0;
    inlet.head_size = 0;
    inlet.left = inlet.head.size;
    if (inlet.head.kind == STDIN_END) end(&inlet.to);
    inlet.is_over |= inlet.head.kind == DONE;
    return 0;
}

static int read_content(void) {
    ssize_t got = read(0, inlet.data, inlet.left < CHUNK ? inlet.left : CHUNK);
    if (got < 0) return errno == EINTR || errno == EAGAIN ? 0 : LEFT_ALONE;
    if (!got) return LEFT_ALONE;
    inlet.left -= (size_t)got;
    inlet.done = 0;
    inlet.size = inlet.to < 0 ? 0 : (size_t)got; /* nobody reads it: it is dropped */
    return 0;
}

static int turn_inlet(void) { return inlet.left ? read_content() : read_head(); }

static void feed(void) {
    ssize_t put = write(inlet.to, inlet.data + inlet.done, inlet.size - inlet.done);
    if (put > 0) inlet.done += (size_t)put;
}

/* The program has closed its stdin, and whoever writes to it is to know. */
static void be_deaf(void) {
    end(&inlet.to);
    inlet.done = inlet.size = 0;
    outlets[1].deaf = 1;
}

static struct pollfd wanted(int fd, short events) { return (struct pollfd){fd, events, 0}; }

static struct pollfd of_outlet(const struct outlet *outlet) {
    if (is_full(outlet) || outlet->deaf) return wanted(outlet->to, POLLOUT);
    return wanted(outlet->from, POLLIN);
}

int pump(int signals, uint64_t most_us) {
    int is_fed = inlet.done < inlet.size, seen = 0;
    struct timespec most = {(time_t)(most_us / 1000000), (long)(most_us % 1000000) * 1000};
    struct pollfd waited[] = {
        wanted(signals, POLLIN),
        wanted(is_fed || inlet.is_over ? -1 : 0, POLLIN),
        wanted(inlet.to, is_fed ? POLLOUT : 0),
        of_outlet(&outlets[0]),
        of_outlet(&outlets[1]),
    };
    if (ppoll(waited, 5, &most, NULL) <= 0) return 0;
    if (waited[0].revents) seen |= SIGNALLED;
    if (waited[2].revents & POLLERR)
        be_deaf();
    else if (waited[2].revents & POLLOUT)
        feed();
    if (waited[1].revents) seen |= turn_inlet();
    if (waited[3].revents) turn_outlet(&outlets[0]);
    if (waited[4].revents) turn_outlet(&outlets[1]);
    return seen;
}

/* Of a pipe that somebody keeps open although nobody lives (it can be on its way through a socket)
   there is no end; but once it is empty, it stays so. */
void pump_rest(void) {
    end(&inlet.to);
    inlet.done = inlet.size = 0;
    for (;;) {
        struct pollfd waited[2] = {wanted(-1, 0), wanted(-1, 0)};
        for (int one = 0; one < 2; one++) {
            outlets[one].deaf = 0;
            if (is_full(&outlets[one]) || fill(&outlets[one])) {
                drain(&outlets[one]);
                waited[one] = wanted(outlets[one].to, POLLOUT);
            }
        }
        if (waited[0].fd < 0 && waited[1].fd < 0) break;
        poll(waited, 2, -1);
    }
    end(&outlets[0].from);
    end(&outlets[1].from);
}

int pump_until_done(void) {
    while (!inlet.is_over || inlet.left)
        if (turn_inlet()) return EPIPE;
    inlet.is_over = 0;
    return 0;
}
