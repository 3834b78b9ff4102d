// Buffers outside of Java's own heap, where -Xmx does not count.
// limits: memory_mb=128
// ends: memory
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

class Main {
    public static void main(String[] args) {
        List<ByteBuffer> hoard = new ArrayList<>();
        while (true) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
            while (buffer.hasRemaining()) buffer.put((byte) 1);
            hoard.add(buffer);
        }
    }
}
