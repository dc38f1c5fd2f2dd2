RSpec.shared_examples 'a collection' do |size|
  it 'has a size' do
    expect(subject.size).to eq(size)
  end

  it 'is not empty' do
    expect(subject).not_to be_empty
  end
end

RSpec.describe Array do
  subject { [1, 2] }
  it_behaves_like 'a collection', 2
end

RSpec.describe Hash do
  subject { {} }
  it_behaves_like 'a collection', 1

  it 'calls a method of nil' do
    subject[:a].upcase
  end

  it 'raises another error' do
    expect { raise KeyError, 'gone' }.to raise_error(IndexError, /lost/)
  end

  it 'matches' do
    expect({ a: 1, b: 2 }).to match(a: 1, b: be > 3)
  end

  it 'fails by hand' do
    fail 'by hand'
  end
end
