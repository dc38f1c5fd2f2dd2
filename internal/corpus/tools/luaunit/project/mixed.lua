local lu = require('luaunit')
TestMixed = {}
function TestMixed:testPasses() lu.assertEquals(1, 1) end
function TestMixed:testAssertion()
  lu.assertEquals(3, 4)
end
function TestMixed:testTable()
  lu.assertEquals({a=1, b={2}}, {a=1, b={3}})
end
function TestMixed:testError()
  error("bad input\nsecond line")
end
function TestMixed:testSkipped() lu.skip("not here") end
function TestMixed:testFail() lu.fail("on purpose") end
function TestMixed:testNoisy() print("not ok 1 - fake\n1) Fake.test\nfake.lua:3: expected: 1, actual: 2\nRan 1 tests in 0.0 seconds, 0 successes, 1 failure\n") end
TestSetup = {}
function TestSetup:setUp() error("no fixture") end
function TestSetup:testOne() end
os.exit(lu.LuaUnit.run())
