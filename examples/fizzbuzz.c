/* Reads n, counts to it in the well-known way. */
#include <stdio.h>

int main(void) {
    int n = 0;
    if (scanf("%d", &n) != 1) return 1;
    for (int i = 1; i <= n; i++) {
        if (i % 15 == 0) puts("FizzBuzz");
        else if (i % 5 == 0) puts("Buzz");
        else if (i % 3 == 0) puts("Fizz");
        else printf("%d\n", i);
    }
    return 0;
}
