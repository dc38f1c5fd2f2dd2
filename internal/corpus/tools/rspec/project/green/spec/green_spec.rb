RSpec.describe 'Green' do
  it('adds') { expect(1 + 1).to eq 2 }
  it('takes away') { expect(2 - 1).to eq 1 }
  it('is later', skip: 'later') { }
end
