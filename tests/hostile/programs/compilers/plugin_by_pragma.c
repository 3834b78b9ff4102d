// What a source can tell gcc about itself: options of the code, not commands.
// ends: exit 0
// says: compiled
#pragma GCC optimize("-fplugin=/workspace/plugin.so,-wrapper,/bin/sh")
#pragma GCC diagnostic ignored "-Wattributes"
#pragma GCC dependency "main.c"
#include <stdio.h>

int main(void) { puts("compiled"); }
