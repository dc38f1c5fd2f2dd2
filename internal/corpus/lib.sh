# What record.sh of a tool begins with: . "$LIB". It is run as `record.sh VERSION OUTDIR` in a fresh
# copy of project/, with CACHE (where the tool is installed, kept between recordings) and REPO.
#
#   run CASE.REPORTER[.color] COMMAND…      record the console of a command, and its exit code
#   run_tty CASE.REPORTER.color COMMAND…    the same with a terminal, for tools without a flag for colour
#   report CASE.REPORTER FILE               record a document that the last run wrote
#   report_of CASE.REPORTER COMMAND…        record the standard output of a command as a document
#   step CASE.REPORTER < SCRIPT             run a script as a step of a workflow does: bash -e FILE
#   shown COMMAND                           what the next runs are shown as in the log of a job
#   npm_install PACKAGE@VERSION…            install into $CACHE/node_modules, which it links here
#
# A run is ended after LIMIT seconds (60). With CASES="NAME…" the recorder records those cases only,
# and keeps the other recordings.
set -u
VERSION=$1 OUTDIR=$2 SHOWN= LAST=0
LIMIT=${LIMIT:-60}

shown() { SHOWN=$*; }

wanted() { [[ -z ${CASES:-} || " $CASES " == *" ${1%%.*} "* ]]; }

took() { # id exit kind command…
	local id=$1 exit=$2 kind=$3
	shift 3
	local command=${SHOWN:-$*}
	printf '%s\t%s\t%s\t%s\n' "$id" "$exit" "$kind" "${command//$'\n'/$'\x1e'}" | tr -d '\r' >> "$OUTDIR/runs"
}

run() {
	local id=$1
	wanted "$id" || return 0
	shift
	timeout -k 5 "$LIMIT" "$@" > "$OUTDIR/$id.txt" 2>&1 < /dev/null
	LAST=$?
	took "$id" $LAST console "$@"
}

step() {
	wanted "$1" || return 0
	local id=$1 script=${STEPS:-${OUTDIR%/out}}/4f1c0d6e-9a57-4b0c-8f41-6d2f0c9d3b7a.sh
	cat > "$script"
	# The shell that ends with the script must not say what ended it: that is for the step's own.
	(timeout -k 5 "$LIMIT" bash -e "$script" > "$OUTDIR/$id.txt" 2>&1 < /dev/null) 2> /dev/null
	LAST=$?
	SHOWN=$(cat "$script") took "$id" $LAST console
}

run_tty() {
	local id=$1
	wanted "$id" || return 0
	shift
	TERM=xterm-256color timeout -k 5 "$LIMIT" script -qefc "$(printf '%q ' "$@")" /dev/null > "$OUTDIR/$id.txt" 2>&1 < /dev/null
	LAST=$?
	took "$id" $LAST console "$@"
}

report() {
	wanted "$1" || return 0
	cp "$2" "$OUTDIR/$1.txt" && took "$1" $LAST report ""
}

report_of() {
	local id=$1
	wanted "$id" || return 0
	shift
	timeout -k 5 "$LIMIT" "$@" > "$OUTDIR/$id.txt" 2> /dev/null < /dev/null
	LAST=$?
	took "$id" $LAST report "$@"
}

npm_install() {
	if [ "$(cat "$CACHE/.installed" 2>/dev/null)" != "$*" ]; then
		[ -e "$CACHE/package.json" ] || echo '{"private":true}' > "$CACHE/package.json"
		(cd "$CACHE" && npm install --no-audit --no-fund --no-save --no-package-lock --loglevel=error "$@") || exit 1
		echo "$*" > "$CACHE/.installed"
	fi
	ln -sfn "$CACHE/node_modules" node_modules
	PATH=$CACHE/node_modules/.bin:$PATH
}
