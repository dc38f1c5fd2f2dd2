#!/bin/sh
# Writes what clojure.test (Debian: clojure) prints. lein.txt is written by hand:
# leiningen prints the same with "lein test" before each namespace.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir" || exit 1
mkdir -p demo
cat > demo/core_test.clj <<'EOF'
(ns demo.core-test (:require [clojure.test :refer :all]))
(deftest adds (is (= 2 (+ 1 1))))
(deftest wrong (testing "sums" (is (= 3 (+ 1 1)) "one and one") (is (= 5 (+ 2 2)))))
(deftest divides (is (= 1 (/ 1 0))))
(deftest throws (throw (ex-info "no such sum" {})))
EOF
cat > demo/green_test.clj <<'EOF'
(ns demo.green-test (:require [clojure.test :refer :all]))
(deftest fine (is true))
EOF
clj() { java -cp /usr/share/java/clojure.jar:/usr/share/java/spec.alpha.jar:/usr/share/java/core.specs.alpha.jar:. clojure.main -e "(require 'clojure.test $1) (clojure.test/run-tests $1)" 2>&1 | sed "s#$dir#/work#g"; }
clj "'demo.core-test 'demo.green-test" > "$here/failing.txt"
clj "'demo.green-test" > "$here/green.txt"
rm -rf "$dir"
