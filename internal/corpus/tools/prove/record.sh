. "$LIB"
PROJECT=$PWD
for case in mixed green none bail; do
	cd "$PROJECT/$case"
	run $case.default prove t
	run $case.verbose prove -v t
	run $case.timer prove --timer --merge t
	run_tty $case.default.color prove t
	run $case.parallel prove -j3 -r t
done
cd "$PROJECT/nofiles"
run nofiles.default prove t
cd "$PROJECT/single"
run single.plain perl cart.t
run single.verbose prove -v cart.t
run missing.default prove t/missing.t
