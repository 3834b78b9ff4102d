// 17. A gigabyte of data from one line.
// compile limits: disk_mb=64 wall_ms=30000
// compiles: exit
int a[1 << 28] = {1};

int main(void) {}
