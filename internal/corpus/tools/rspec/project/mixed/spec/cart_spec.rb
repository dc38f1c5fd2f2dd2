require 'timeout'

class Cart
  def total = 3
  def items = [{ name: 'apple', price: 1 }, { name: 'pear', price: 2 }]
  def pay(card) = raise(ArgumentError, "no card given\nplease give one")
end

RSpec.describe Cart do
  subject(:cart) { described_class.new }

  it 'adds up' do
    expect(cart.total).to eq 4
  end

  it 'knows its items' do
    expect(cart.items).to eq([{ name: 'apple', price: 1 }, { name: 'plum', price: 2 }])
  end

  it('starts') { expect(cart.total).to be > 0 }

  describe '#pay' do
    it 'needs a card' do
      cart.pay(nil)
    end

    context 'when the bank is slow' do
      it 'gives up' do
        Timeout.timeout(0.1) { sleep 2 }
      end

      it 'prints nothing' do
        expect { puts 'x' }.to_not output.to_stdout
      end
    end
  end

  [1, 2, 3].each do |n|
    it "is larger than #{n}" do
      expect(cart.total).to be > n
    end
  end

  it 'zahlt in € – größer' do
    expect('größe').to include('€')
  end

  it 'is the same name' do
    expect(1).to eq 2
  end

  it 'is the same name' do
    expect(1).to eq 3
  end

  it 'sees everything', :aggregate_failures do
    expect(cart.total).to eq 5
    expect(cart.items.size).to eq 6
  end

  it 'is skipped', skip: 'no network' do
    expect(1).to eq 2
  end

  xit 'is left out' do
    expect(1).to eq 2
  end

  it 'is pending' do
    pending 'not yet'
    expect(1).to eq 2
  end

  it 'is pending but works' do
    pending 'was broken'
    expect(1).to eq 1
  end

  it 'is not written yet'

  it { is_expected.to be_nil }
end
