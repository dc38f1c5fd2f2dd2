. "$LIB"
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
PROJECT=$PWD
PY=python3
[ -x "${PYENV_ROOT:-$HOME/.pyenv}/versions/$VERSION/bin/python3" ] && PY=${PYENV_ROOT:-$HOME/.pyenv}/versions/$VERSION/bin/python3
for case in mixed green none; do
	cd "$PROJECT/$case"
	shown "python3 -m unittest"
	run $case.default $PY -m unittest
	run $case.verbose $PY -m unittest -v
	run $case.buffer $PY -m unittest -b
done
