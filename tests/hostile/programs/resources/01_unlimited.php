# Sets PHP's own limit to what it likes.
# limits: memory_mb=64
# ends: memory
<?php
ini_set("memory_limit", "100G");
$text = "hostile";
while (true) {
    $text .= $text;
}
