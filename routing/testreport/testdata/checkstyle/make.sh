#!/bin/sh
# Makes shellcheck.xml and checkstyle.xml with Debian's shellcheck and checkstyle. Run it from this directory.
# mixed.xml is written by hand in the shape of ESLint's, PHP_CodeSniffer's and detekt's.
set -eu
out=$PWD; work=/tmp/proj/checkstyle; rm -rf "$work"; mkdir -p "$work"; cd "$work"
printf '#!/bin/sh\necho $1\nif [ $a == b ]; then cd /x; fi\n' > run.sh
shellcheck -f checkstyle run.sh > "$out/shellcheck.xml" || true
printf 'class a { int B; void F(){ if(true) return; } }\n' > a.java
checkstyle -c /sun_checks.xml -f xml a.java 2>/dev/null | sed -E 's#/tmp/proj#/proj#g' > "$out/checkstyle.xml" || true
