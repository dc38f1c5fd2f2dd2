require 'no_such_library'

RSpec.describe 'B' do
  it('works') { expect(1).to eq 1 }
end
