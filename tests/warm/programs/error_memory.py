# An allocation that can never succeed.
x = bytearray(1 << 60)
