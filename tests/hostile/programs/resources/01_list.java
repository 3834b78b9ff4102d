// A list that grows for ever.
// limits: memory_mb=128
// ends: memory
import java.util.ArrayList;
import java.util.List;

class Main {
    public static void main(String[] args) {
        List<int[]> hoard = new ArrayList<>();
        while (true) {
            int[] numbers = new int[1 << 16];
            java.util.Arrays.fill(numbers, 1);
            hoard.add(numbers);
        }
    }
}
