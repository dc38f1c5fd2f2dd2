def run
  puts 1
