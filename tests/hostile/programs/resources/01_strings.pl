# A string that doubles.
# limits: memory_mb=64
# ends: memory

my $text = "hostile";
$text .= $text while 1;
