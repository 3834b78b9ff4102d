// Buffers outside of V8's heap.
// limits: memory_mb=128
// ends: memory
const hoard = [];
while (true) hoard.push(Buffer.alloc(1 << 20, 1));
