// Thirty programs are started with 4 MB of arguments each: the kernel keeps them in memory.
// limits: memory_mb=64
// ends: memory
// not on gvisor: each of these costs the host processes of gVisor's, which only cgroups count
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH (120 << 10)
#define COUNT 34

int main(int argc, char **argv) {
    if (argc > COUNT) return pause();
    char *word = malloc(LENGTH), *words[COUNT + 3] = {argv[0], argv[1]};
    memset(word, 'x', LENGTH - 1);
    word[LENGTH - 1] = 0;
    for (int i = 0; i < COUNT; i++) words[i + 2] = word;
    for (int child = 0; child < 30; child++)
        if (fork() == 0) execv("/proc/self/exe", words);
    pause();
}
