#!/bin/sh
# Makes real.xml with Debian's gnat and libaunit22-dev. Run it from this directory.
set -eu
out=$PWD; work=/tmp/proj/aunit; rm -rf "$work"; mkdir -p "$work"; cd "$work"
cat > math_test.ads <<'T'
with AUnit.Test_Cases; with AUnit;
package Math_Test is
   type Math is new AUnit.Test_Cases.Test_Case with null record;
   procedure Register_Tests (T : in out Math);
   function Name (T : Math) return AUnit.Message_String;
end Math_Test;
T
cat > math_test.adb <<'T'
with AUnit.Assertions; use AUnit.Assertions;
package body Math_Test is
   procedure Adds (T : in out AUnit.Test_Cases.Test_Case'Class) is begin Assert (1 + 1 = 2, "sum"); end Adds;
   procedure Subtracts (T : in out AUnit.Test_Cases.Test_Case'Class) is begin Assert (1 + 1 = 3, "wrong <sum>"); end Subtracts;
   procedure Raises (T : in out AUnit.Test_Cases.Test_Case'Class) is begin raise Constraint_Error with "no luck"; end Raises;
   procedure Register_Tests (T : in out Math) is
      use AUnit.Test_Cases.Registration;
   begin
      Register_Routine (T, Adds'Access, "Adds");
      Register_Routine (T, Subtracts'Access, "Subtracts");
      Register_Routine (T, Raises'Access, "Raises");
   end Register_Tests;
   function Name (T : Math) return AUnit.Message_String is begin return AUnit.Format ("Math tests"); end Name;
end Math_Test;
T
cat > run_all.adb <<'T'
with AUnit.Reporter.XML; with AUnit.Run; with AUnit.Test_Suites; use AUnit.Test_Suites; with Math_Test;
procedure Run_All is
   function Suite return Access_Test_Suite is
      S : constant Access_Test_Suite := new Test_Suite;
   begin
      S.Add_Test (new Math_Test.Math); return S;
   end Suite;
   procedure Runner is new AUnit.Run.Test_Runner (Suite);
   R : AUnit.Reporter.XML.XML_Reporter;
begin
   Runner (R);
end Run_All;
T
ada=/usr/share/ada/adainclude/aunit; ali=$(dirname "$(find /usr/lib -name aunit.ali | head -1)")
gnatmake -q run_all.adb -aI$ada -aL$ali -largs -launit
./run_all | sed -E "s#elapsed='[^']*'#elapsed='1.0E-4'#; s#0x[0-9a-f]+#0x0#g" > "$out/real.xml"
