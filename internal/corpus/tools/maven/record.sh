LIMIT=240
. "$LIB"
[ "$(mvn --version 2>&1 | sed -n 's/.*Apache Maven \([0-9.]*\).*/\1/p')" = "$VERSION" ] || { echo "this is not Maven $VERSION" >&2; exit 1; }
# Debian's packages maven, junit4, junit5, testng and libsurefire-java are the repository.
[ -e "$CACHE/repository" ] || cp -rs /usr/share/maven-repo "$CACHE/repository" || exit 1
for framework in junit5 junit4 testng; do
	case $framework in
	junit5) artifact="org.junit.jupiter junit-jupiter 5.9.2";;
	junit4) artifact="junit junit 4.13.2";;
	testng) artifact="org.testng testng 6.x";;
	esac
	set -- $artifact
	for dir in "$framework"/*/; do
		case=$framework-$(basename "$dir")
		sed "s/GROUP/$1/; s/ARTIFACT/$2/; s/VERSION/$3/" pom.xml.in > "$dir/pom.xml"
		wanted $case || continue
		cd "$dir"
		shown "mvn -B test"
		run $case.default mvn -o -B "-Dmaven.repo.local=$CACHE/repository" test
		for document in target/surefire-reports/TEST-*.xml; do
			[ -e "$document" ] && report $case.$(basename "$document" .xml | tr . -) "$document"
		done
		case $case in *-math)
			shown "mvn test"
			run $case.default.color mvn -o -Dstyle.color=always "-Dmaven.repo.local=$CACHE/repository" test
			shown "mvn -B -q test"
			run $case.quiet mvn -o -B -q "-Dmaven.repo.local=$CACHE/repository" test
			shown "mvn -B test -Dsurefire.rerunFailingTestsCount=1"
			run $case.rerun mvn -o -B -Dsurefire.rerunFailingTestsCount=1 "-Dmaven.repo.local=$CACHE/repository" test
		esac
		cd ../..
	done
done
