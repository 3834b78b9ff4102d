// A header from stdin: there is nothing on it, and nobody waits for more.
// ends: exit 0
#include "/dev/stdin"

int main(void) {}
