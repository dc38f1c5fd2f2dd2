. "$LIB"
[ "$(javac -version 2>&1)" = "javac $VERSION" ] || { echo "this is not javac $VERSION" >&2; exit 1; }
for case in pass fail syntax warn; do
	shown "javac -d out $case/Main.java"
	run $case.default javac -d out $case/Main.java
done
shown "javac -Xlint:all -Werror -d out warn/Main.java"
run werror.default javac -Xlint:all -Werror -d out warn/Main.java
