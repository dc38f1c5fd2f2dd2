print "1..2\nok 1 - one\nok 1 - again\nnot ok 3 - beyond\n";
