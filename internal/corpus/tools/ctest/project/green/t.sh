case $1 in
ok) echo "all is well" ;;
fail) echo "t.c:12: Assertion failed: total() == 4"; exit 1 ;;
nodb) echo "error: cannot connect to the database"; exit 2 ;;
segv) kill -SEGV $$ ;;
abort) echo "t: t.c:3: main: Assertion \`n == 2' failed."; kill -ABRT $$ ;;
slow) echo "waiting"; exec sleep 20 ;;
skip) echo "no network"; exit 77 ;;
noisy) echo "The following tests FAILED:"; echo "	  2 - other (Failed)"; echo "ERROR: connection refused"; echo "1/1 Test  #1: other ............***Failed    0.00 sec" ;;
esac
