#!/bin/sh
# Makes real.xml and green.xml with Debian's libcppunit-dev. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/cppunit; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > math_test.cpp <<'T'
#include <cppunit/extensions/HelperMacros.h>
#include <cppunit/extensions/TestFactoryRegistry.h>
#include <cppunit/TestResult.h>
#include <cppunit/TestResultCollector.h>
#include <cppunit/TestRunner.h>
#include <cppunit/XmlOutputter.h>
#include <fstream>
#include <stdexcept>
#include <string>
class MathTest : public CppUnit::TestFixture {
    CPPUNIT_TEST_SUITE(MathTest);
    CPPUNIT_TEST(adds);
#ifndef GREEN
    CPPUNIT_TEST(subtracts); CPPUNIT_TEST(says); CPPUNIT_TEST(throws); CPPUNIT_TEST(throwsInt);
#endif
    CPPUNIT_TEST_SUITE_END();
public:
    void adds() { CPPUNIT_ASSERT_EQUAL(2, 1 + 1); }
    void subtracts() { CPPUNIT_ASSERT_EQUAL(3, 1 + 1); }
    void says() { CPPUNIT_ASSERT_MESSAGE("a < b && c", std::string("a").empty()); }
    void throws() { throw std::runtime_error("no luck"); }
    void throwsInt() { throw 1; }
};
CPPUNIT_TEST_SUITE_REGISTRATION(MathTest);
#ifndef GREEN
template <class T> class Typed : public CppUnit::TestFixture {
    CPPUNIT_TEST_SUITE(Typed); CPPUNIT_TEST(holds); CPPUNIT_TEST_SUITE_END();
public:
    void holds() { CPPUNIT_ASSERT(sizeof(T) > 4); }
};
CPPUNIT_TEST_SUITE_REGISTRATION(Typed<int>);
class BrokenSetup : public CppUnit::TestFixture {
    CPPUNIT_TEST_SUITE(BrokenSetup); CPPUNIT_TEST(neverRuns); CPPUNIT_TEST_SUITE_END();
public:
    void setUp() override { throw std::logic_error("no database"); }
    void neverRuns() {}
};
CPPUNIT_TEST_SUITE_REGISTRATION(BrokenSetup);
#endif
int main() {
    CppUnit::TestResult controller; CppUnit::TestResultCollector result; controller.addListener(&result);
    CppUnit::TestRunner runner; runner.addTest(CppUnit::TestFactoryRegistry::getRegistry().makeTest());
    runner.run(controller);
    std::ofstream f("out.xml"); CppUnit::XmlOutputter(&result, f).write();
}
T
g++ math_test.cpp -o a.out -lcppunit; ./a.out; cp out.xml "$out/real.xml"
g++ -DGREEN math_test.cpp -o g.out -lcppunit; ./g.out; cp out.xml "$out/green.xml"
