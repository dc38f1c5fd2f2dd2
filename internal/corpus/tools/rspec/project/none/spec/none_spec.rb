RSpec.describe 'Nothing' do
end
