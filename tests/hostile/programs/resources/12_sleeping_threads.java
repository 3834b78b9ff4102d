// Main ends, a thread that is no daemon does not.
// limits: wall_ms=1500
// ends: wall_time
class Main {
    public static void main(String[] args) {
        new Thread(() -> {
            while (true) {
                try {
                    Thread.sleep(1000);
                } catch (InterruptedException unimportant) {
                }
            }
        }).start();
    }
}
