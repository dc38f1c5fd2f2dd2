local lu = require('luaunit')
TestGreen = {}
function TestGreen:testA() print('FAIL: x') end
function TestGreen:testB() end
os.exit(lu.LuaUnit.run())
