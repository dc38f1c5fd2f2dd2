RSpec.describe 'Killed' do
  it('works') { expect(1).to eq 1 }
  it('fails') { expect(1).to eq 2 }
  it('dies') { $stdout.flush; Process.kill(:KILL, Process.pid); sleep 5 }
  it('never runs') { expect(1).to eq 1 }
end
