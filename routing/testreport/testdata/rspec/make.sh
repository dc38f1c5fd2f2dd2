#!/bin/sh
# Makes the *.txt files of this directory with Debian's ruby-rspec.
# parallel.txt is by hand after parallel_tests' documentation.
set -u
out=$PWD
work=/tmp/proj/rspec
rm -rf "$work"; mkdir -p "$work/spec" "$work/green" "$work/broken"; cd "$work" || exit 1
scrub() { sed -E "s#/tmp/proj/rspec#/proj#g; s#Finished in .*#Finished in 0.01 seconds (files took 0.1 seconds to load)#; s#0x[0-9a-f]+#0x7f00#g"; }
run() { name=$1; shift; "$@" 2>&1 | scrub > "$out/$name.txt"; }
cat > spec/a_spec.rb <<'T'
RSpec.describe 'Sums' do
  context 'when small' do
    it('passes') { expect(1).to eq(1) }
    it('adds up') { expect(1 + 1).to eq(3) }
    it('raises') { raise ArgumentError, "bad\nvalue" }
    [1, 2].each { |n| it("handles #{n}") { expect(n).to eq(1) } }
  end
  it('is pending')
  xit('is skipped') { }
  it('is fixed', pending: 'known') { expect(1).to eq(1) }
  it('is known', pending: 'known') { expect(1).to eq(2) }
  it('aggregates', :aggregate_failures) { expect(1).to eq(2); expect(3).to eq(4) }
end
RSpec.describe 'Hooks' do
  before(:all) { raise 'no database' }
  it('never') { }
  it('never two') { }
end
RSpec.describe 'After' do
  after(:all) { raise 'cannot clean' }
  it('runs') { }
end
T
echo "RSpec.describe('G') { it('a') { }; it('b') { } }" > green/g_spec.rb
echo "require 'nothing_of_this_name'" > broken/b_spec.rb
run failing rspec
run failing_doc rspec -f d
run green rspec green
run broken rspec green broken
run fail_fast rspec --fail-fast
run empty rspec --pattern nothere
