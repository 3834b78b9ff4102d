// Arrays in V8's own heap.
// limits: memory_mb=128
// ends: memory
const hoard = [];
while (true) hoard.push(new Array(10000).fill(1.5));
