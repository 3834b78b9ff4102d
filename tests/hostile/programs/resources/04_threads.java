// Java's threads are the kernel's threads.
// limits: processes=64 memory_mb=512 wall_ms=20000
// ends: processes
class Main {
    public static void main(String[] args) {
        while (true) {
            new Thread(() -> {
                while (true) Thread.onSpinWait();
            }).start();
        }
    }
}
