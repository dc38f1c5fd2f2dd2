#!/bin/sh
# Makes the files beside it with RSpec.
set -eu
out=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) && cd "$dir"
scrub() { sed -e "s#$dir#/project#g"; }
mkdir spec
cat > spec/sum_spec.rb <<'X'
RSpec.describe 'Sum' do
  it('adds') { expect(1 + 2).to eq(3) }
  it('fails') { expect(1 + 2).to eq(4) }
  it('throws') { raise ArgumentError, 'no such thing' }
  it 'is not written'
  xit('is skipped') { }
  it('is pending') { pending 'later'; raise 'x' }
  it('is pending but passes') { pending 'later' }
  [1, 2].each { |n| it("takes #{n}") { expect(n).to be < 2 } }
  it('fails twice', :aggregate_failures) { expect(1).to eq(2); expect(3).to eq(4) }
  it { expect(1).to eq(2) }
  describe '#deeper' do
    before { raise 'no database' }
    it('needs the database') { }
  end
  context 'with before(:all)' do
    before(:all) { raise 'no server' }
    it('never runs') { }
    it('never runs either') { }
  end
  context 'with after(:all)' do
    after(:all) { raise 'cannot close' }
    it('is fine') { }
  end
end
X
cat > shared.rb <<'X'
RSpec.shared_examples 'a thing' do
  it('is shared') { expect(1).to eq(2) }
end
X
cat > spec/shared_spec.rb <<'X'
require_relative '../shared'
RSpec.describe('Shared') { it_behaves_like 'a thing' }
X
echo "RSpec.describe('Green') { it('is fine') { } }" > spec/green_spec.rb
rspec --format json 2>/dev/null | scrub > "$out/failing.json" || true
rspec --format json spec/green_spec.rb 2>/dev/null | scrub > "$out/green.json" || true
echo "RSpec.describe('Broken') { it(" > spec/syntax_spec.rb
echo "require 'does_not_exist'" > spec/missing_spec.rb
rspec --format json 2>/dev/null | scrub > "$out/load.json" || true
rm -rf "$dir"
