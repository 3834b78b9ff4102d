// 1. Has the kernel make tables for its futexes, of sixteen million slots: gigabytes in no account.
// ends: exit 0
// says: held
// may say in containers: 1073741824
#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>

int main(void) {
    int told[] = {78, 31, 62, 67, 1 << 30};  // futex hash, perf, core scheduling, page merging
    for (unsigned i = 0; i < sizeof told / sizeof *told; i++)
        if (prctl(told[i], 1, 1 << 24, 0, 0) == 0 || errno != EINVAL) printf("%d\n", told[i]);
    if (prctl(PR_SET_NAME, "control", 0, 0, 0) == 0) puts("held");
    return 0;
}
