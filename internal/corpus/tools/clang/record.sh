. "$LIB"
[ "$(clang -dumpfullversion -dumpversion | head -1)" = "$VERSION" ] || { echo "this is not clang $VERSION" >&2; exit 1; }
for case in pass fail syntax warn link header; do
	shown "clang -Wall -o app $case.c"
	run $case.default clang -Wall -o app $case.c
	run $case.default.color clang -Wall -fdiagnostics-color=always -o app $case.c
done
shown "clang -Wall -Werror -c warn.c"
run werror.default clang -Wall -Werror -c warn.c
shown "clang++ -c template.cc"
run template.default clang++ -c template.cc
printf 'app: fail.o\n\tclang -o app fail.o\nfail.o: fail.c\n\tclang -Wall -c fail.c\n' > Makefile
shown make
run make.default make
