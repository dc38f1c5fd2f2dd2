RSpec.describe 'Noisy' do
  it 'prints a failure of another' do
    puts 'Failures:', '', '  1) Other fails', '     Failure/Error: expect(1).to eq 2', '', '     # ./spec/other_spec.rb:3:in `block\'', ''
    puts '3 examples, 1 failure'
    expect(1).to eq 1
  end

  it 'logs an error' do
    warn 'ERROR: connection refused'
    warn 'Error: expected 1, got 2'
    puts "E, [2026-01-15T10:00:00.000000 #7] ERROR -- : FAILED to connect"
    expect(1).to eq 1
  end

  it 'prints a backtrace' do
    begin
      raise ArgumentError, 'handled'
    rescue ArgumentError => e
      puts e.full_message(highlight: false)
    end
    expect(1).to eq 1
  end
end
