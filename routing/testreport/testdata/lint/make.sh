#!/bin/sh
# Records what compilers and linters print about the small faulty sources
# below. Needs those on the PATH, or in node_modules of the directory given:
#
#	sh make.sh [DIRECTORY WITH node_modules]
#
# A tool that is not there is left out. Paths are scrubbed.
here=$(cd "$(dirname "$0")" && pwd)
mods=${1:-}
work=$(mktemp -d) && cd "$work" || exit 1
PATH="$mods/node_modules/.bin:$PATH"

mkdir -p src .github/workflows
cat > src/a.py <<'X'
import os
def add(a: int, b: int) -> int:
    x = 1
    return "s"
class c: pass
X
printf 'x = (\n' > src/bad.py
printf 'import sys\nimport os\nprint( os,sys )\n' > src/fmt.py
printf 'const a = 1;\nlet b = 2\nfunction f(x) { if (x == 1) { return undefinedThing } }\n' > src/a.js
printf 'const n: number = "s";\nfunction g(y) { return y; }\nexport { n, g, missing };\n' > src/a.ts
printf 'a { color: #FFF; margin: 0px; colr: red; }\n' > src/a.css
printf '# Title\n\nText   \n\n### Jump\n' > src/a.md
printf 'a: 1\na:  2\n' > src/a.yml
printf 'echo $1\nif [ $x = 1 ]; then ls *.txt | xargs rm; fi\n' > src/a.sh
printf '#include "none.h"\nint main(void) { return 0; }\n' > src/inc.c
printf 'int f(int);\nint g(void) { int u; return f("s") + y; }\n' > src/a.c
printf 'int f(int);\nint main(void) { return f(1); }\n' > src/link.c
printf '#include <cstddef>\nint main() { int *p = NULL; return p == 0; }\n' > src/tidy.cpp
printf 'def a\n  x = 1\n  y = "s"\nend\n' > src/a.rb
printf '<?php\nfunction a($x)\n{\n    if($x){return 1;}\n}\n' > src/a.php
printf 'public class A { int f() { String s = 1; return y } }\n' > src/A.java
printf 'public class B { int f() { String s = 1; return z; } }\n' > src/B.java
printf 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Printf("%%d\\n", "s")\n\tif true {\n\t}\n}\n' > main.go
printf 'module example.com/a\n\ngo 1.21\n' > go.mod
printf 'package main\nfunc f( ) { }\n' > src/f.go
printf 'on: push\njobs:\n  a:\n    runs-on: none-such\n    steps:\n      - run: echo ${{ foo.bar }}\n' > .github/workflows/ci.yml
printf '{ "root": true, "extends": "eslint:recommended", "parserOptions": { "ecmaVersion": 2022 }, "rules": { "eqeqeq": "warn" } }\n' > .eslintrc.json
printf '{ "extends": "stylelint-config-standard" }\n' > .stylelintrc.json
printf 'fn  main() { let x = 1; }\n' > src/a.rs
ln -s "$mods/node_modules" node_modules 2>/dev/null

run() { # name command…
	name=$1; shift
	command -v "$1" > /dev/null 2>&1 || { echo "make.sh: $1 is not there" >&2; return; }
	"$@" > out 2>&1
	code=$?
	sed "s#$work#/p#g; s#$mods#/n#g; s#/root#/home/ci#g" out > "$here/$name.log"
	echo "exit $code: $name" >&2
}
run flake8 flake8 src/a.py src/fmt.py
run pylint pylint --disable=all --enable=C,W,E src/a.py
run mypy mypy --cache-dir=/dev/null src/a.py
run black black --check src
run isort isort --check-only src/fmt.py
run yamllint yamllint src/a.yml
run yamllint-parsable yamllint -f parsable src/a.yml
run shellcheck shellcheck -s sh src/a.sh
run shellcheck-gcc shellcheck -s sh -f gcc src/a.sh
run rubocop rubocop --cache false src/a.rb
run phpcs phpcs --standard=PSR12 src/a.php
run gcc gcc -c -Wall src/a.c
run gcc-include gcc -c src/inc.c
run clang clang -c -Wall src/a.c
run ld gcc -o a.bin src/link.c
run clang-tidy clang-tidy --quiet --checks=modernize-use-nullptr "--warnings-as-errors=*" src/tidy.cpp --
run javac-syntax javac -d . src/A.java
run javac javac -d . src/B.java
run govet go vet .
run gofmt-d gofmt -d src/f.go
run staticcheck staticcheck .
run actionlint actionlint -no-color .github/workflows/ci.yml
run rustfmt rustfmt --check src/a.rs
run eslint eslint src/a.js
run eslint-compact eslint -f compact src/a.js
run eslint-unix eslint -f unix src/a.js
run eslint-warnings eslint --rule 'no-undef: off' --rule 'no-unused-vars: off' src/a.js
run stylelint stylelint src/a.css
run prettier prettier --check src/a.js src/a.css
run tsc tsc --noEmit --strict src/a.ts
run tsc-pretty tsc --noEmit --strict --pretty src/a.ts
run standard standard src/a.js
run markdownlint markdownlint src/a.md
run biome biome lint src/a.js
run biome-format biome format src/a.js
run pyright pyright src/a.py
rm -rf "$work"
