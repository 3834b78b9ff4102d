# An array that grows for ever. (PHP prints what stands before its first tag.)
# limits: memory_mb=64
# ends: memory
<?php
$hoard = [];
while (true) {
    $hoard[] = str_repeat("x", 1 << 16);
}
