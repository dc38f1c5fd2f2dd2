RSpec.describe 'A' do
  it('works') { expect(1).to eq 1 }
end
