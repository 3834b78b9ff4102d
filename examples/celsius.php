<?php
// Reads degrees Fahrenheit, prints them in Celsius.
while (($line = fgets(STDIN)) !== false) {
    printf("%.1f\n", ((float) $line - 32) / 1.8);
}
