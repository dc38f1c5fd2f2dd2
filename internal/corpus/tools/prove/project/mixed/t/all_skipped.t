use Test::More skip_all => 'no display';
