#!/bin/sh
# Makes *.xml with Debian's qtbase5-dev. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/qtest; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > tst_text.cpp <<'T'
#include <QtTest/QtTest>
class TestText : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { if (qEnvironmentVariableIsSet("BROKEN")) QFAIL("no database"); }
    void passes() { QVERIFY(true); }
    void compares() { QCOMPARE(QString("a<b"), QString("c&d")); }
    void rows_data() { QTest::addColumn<int>("n"); QTest::newRow("one") << 1; QTest::newRow("two") << 2; QTest::newRow("three") << 3; }
    void rows() { QFETCH(int, n); QVERIFY2(n < 2, "too much"); }
    void skips() { QSKIP("not here"); }
    void skipsRow_data() { QTest::addColumn<int>("n"); QTest::newRow("a") << 1; QTest::newRow("b") << 2; }
    void skipsRow() { QFETCH(int, n); if (n == 2) QSKIP("not this one"); }
    void expected() { QEXPECT_FAIL("", "known", Continue); QVERIFY(false); }
    void unexpected() { QEXPECT_FAIL("", "known", Continue); QVERIFY(true); }
    void warns() { qWarning("careful"); }
    void throws() { if (qEnvironmentVariableIsSet("THROW")) throw 1; }
    void dies() { if (qEnvironmentVariableIsSet("DIE")) qFatal("the end"); }
    void cleanupTestCase() {}
};
QTEST_APPLESS_MAIN(TestText)
#include "tst_text.moc"
T
printf 'QT = core testlib\nTARGET = tst\nSOURCES = tst_text.cpp\nCONFIG += c++17\n' > t.pro
qmake t.pro >/dev/null; make -s >/dev/null 2>&1
run() { f=$1; shift; env "$@" ./tst -o "$f.xml,xml" >/dev/null 2>&1 || true
  sed -E 's#msecs="[0-9.]*"#msecs="0.5"#' "$f.xml" > "$out/$f.xml"; }
run failing A=1
run broken BROKEN=1
run throws THROW=1
run fatal DIE=1
./tst passes skips -o green.xml,xml >/dev/null; sed -E 's#msecs="[0-9.]*"#msecs="0.5"#' green.xml > "$out/green.xml"
