. "$LIB"
[ "$(gcc -dumpfullversion -dumpversion | head -1)" = "$VERSION" ] || { echo "this is not gcc $VERSION" >&2; exit 1; }
for case in pass fail syntax warn link header; do
	shown "gcc -Wall -o app $case.c"
	run $case.default gcc -Wall -o app $case.c
	run $case.default.color gcc -Wall -fdiagnostics-color=always -o app $case.c
done
shown "gcc -Wall -Werror -c warn.c"
run werror.default gcc -Wall -Werror -c warn.c
shown "g++ -c template.cc"
run template.default g++ -c template.cc
printf 'app: fail.o\n\tgcc -o app fail.o\nfail.o: fail.c\n\tgcc -Wall -c fail.c\n' > Makefile
shown make
run make.default make
