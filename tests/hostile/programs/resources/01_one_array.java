// One array that is larger than the limit.
// limits: memory_mb=128
// ends: memory
class Main {
    public static void main(String[] args) {
        System.out.println(new int[1 << 28].length);
    }
}
