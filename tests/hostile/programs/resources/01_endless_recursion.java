// Java sees the end of its stack by itself, and says so.
// ends: exit 1
class Main {
    static int deeper(int depth) {
        return deeper(depth + 1) + depth;
    }

    public static void main(String[] args) {
        System.out.println(deeper(0));
    }
}
