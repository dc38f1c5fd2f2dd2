use strict;
my $a = 1;
print $a;
