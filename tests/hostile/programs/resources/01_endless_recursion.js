// V8 sees the end of its stack by itself, and says so.
// ends: exit 1
function deeper(depth) {
  return deeper(depth + 1) + depth;
}

deeper(0);
