#include <stdio.h>

int main(void) {
    int count, sum = 0, number;
    scanf("%d", &count);
    while (scanf("%d", &number) == 1) sum = (int)((unsigned)sum + (unsigned)number);
    printf("%d\n", sum);
}
