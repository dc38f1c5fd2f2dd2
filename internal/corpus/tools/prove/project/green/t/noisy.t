use Test::More;
diag("Failed test 'of another'\n  at t/other.t line 3.");
print STDERR "ERROR: connection refused\n#   Failed test 'x'\n#   at t/x.t line 1.\n";
note("not ok 1 - a note");
print "# not ok 3\nnot okay\n";
ok(1, 'works');
done_testing;
