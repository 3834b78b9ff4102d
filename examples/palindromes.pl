# Reads lines, prints those that read the same backwards.
use strict;
use warnings;

while (my $line = <STDIN>) {
    (my $letters = lc $line) =~ s/[^a-z]//g;
    print $line if $letters eq reverse $letters;
}
